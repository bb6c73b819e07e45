"""The demo's world: people, machines and three weeks of trade, made by the real operations."""
