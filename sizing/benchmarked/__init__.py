"""Work that is judged by published benchmarks: pictures and clips, rendering, simulation."""
