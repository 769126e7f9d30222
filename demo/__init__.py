"""The main job on real images: folder → versions → labels → training → registered model."""
