"""How far the engine is from what was measured or stated, and where its figures come from."""
