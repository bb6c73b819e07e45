"""The gallery of components: each one alone, in every state, for staff and for tests."""
