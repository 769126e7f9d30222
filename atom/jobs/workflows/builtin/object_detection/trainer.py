"""Trains the network: epochs, validation, checkpoints."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from artifacts import Detector, to_bytes  # type: ignore[import-not-found]
from average_precision import measure_precision  # type: ignore[import-not-found]
from data import NothingReadableError, Part  # type: ignore[import-not-found]
from detecting import detect  # type: ignore[import-not-found]
from loading import PictureTable, TrainingBatch  # type: ignore[import-not-found]
from losses import Loss, loss_of  # type: ignore[import-not-found]
from network import SmallDetector  # type: ignore[import-not-found]
from progress import ProgressLine  # type: ignore[import-not-found]
from schedule import warm_up_share  # type: ignore[import-not-found]

from atom_sdk import run

WEIGHT_DECAY = 0.01
LONGEST_GRADIENT = 10.0
LOG_EVERY_BATCHES = 5


@dataclass(frozen=True)
class Settings:
    """The run's parameters."""

    epochs: int
    batch_size: int
    learning_rate: float
    image_size: int
    hidden: str
    mirror: bool
    seed: int


class Trainer:
    """The network, its optimiser and where they are."""

    def __init__(
        self, settings: Settings, training: Part, validation: Part, classes: list[str]
    ) -> None:
        """Look at the pictures and build a network for them."""
        self.settings, self.training = settings, training
        self.table = PictureTable(training, settings.image_size)
        self.validation = PictureTable(validation, settings.image_size)
        mean, std = self.table.measure_pixels()
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        network = SmallDetector(len(classes), settings.hidden, settings.image_size, mean, std)
        # The faster order in memory for convolutions, on processors too.
        network = network.to(self.device, memory_format=torch.channels_last)
        size, hidden = settings.image_size, settings.hidden
        self.detector = Detector(network, classes, size, hidden, mean, std)
        rate = settings.learning_rate
        self.optimiser = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=WEIGHT_DECAY)
        self.batches = -(-len(training) // settings.batch_size)
        steps = settings.epochs * self.batches
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(
            self.optimiser, rate, total_steps=steps, pct_start=warm_up_share(steps)
        )
        self.last_metrics: dict[str, float] = {}

    def train(self) -> None:
        """Run the epochs that are left; a checkpoint after each. Raises NothingReadableError."""
        for epoch in range(self._resume(), self.settings.epochs):
            started_s = time.monotonic()
            losses = self._train_epoch(epoch)
            rate = len(self.training) / (time.monotonic() - started_s)
            self.last_metrics = self._validate()
            metrics = {
                **losses,
                "learning_rate": self.optimiser.param_groups[0]["lr"],
                "images_per_s": rate,
                **self.last_metrics,
            }
            # The same axis as the loss of each batch.
            run.log(metrics, step=(epoch + 1) * self.batches)
            self._say(epoch, losses["train_loss"], rate)
            run.save_checkpoint(epoch + 1, {"state.pt": to_bytes(self._state(epoch + 1))})

    def _train_epoch(self, epoch: int) -> dict[str, float]:
        """Return the mean losses over the epoch's pictures."""
        self.detector.network.train()
        seed = [self.settings.seed, epoch]
        order = np.random.default_rng(seed).permutation(len(self.training))
        bar = ProgressLine(epoch, self.settings.epochs, self.batches)
        sums, seen = np.zeros(3), 0
        size, mirror = self.settings.batch_size, self.settings.mirror
        for place, batch in enumerate(run.track(self.table.training(order, size, seed, mirror))):
            # Pictures that cannot be read leave some batches smaller, or empty.
            if len(batch.images):
                loss = self._step(batch)
                values = (float(loss.total.detach()), loss.scores, loss.boxes)
                sums += np.array(values) * len(batch.images)
                seen += len(batch.images)
                if place % LOG_EVERY_BATCHES == 0:
                    run.log({"loss": sums[0] / seen}, step=epoch * self.batches + place)
            bar.draw(place + 1, sums[0] / max(1, seen), seen)
        bar.end()
        if not seen:
            raise NothingReadableError(len(self.training))
        names = ("train_loss", "score_loss", "box_loss")
        return dict(zip(names, (sums / seen).tolist(), strict=True))

    def _step(self, batch: TrainingBatch) -> Loss:
        images = torch.from_numpy(batch.images).to(self.device, torch.float32)
        images = images.contiguous(memory_format=torch.channels_last)
        codes = torch.from_numpy(batch.codes).to(self.device)
        boxes = torch.from_numpy(batch.boxes).to(self.device)
        loss: Loss = loss_of(*self.detector.network(images), codes, boxes)
        self.optimiser.zero_grad(set_to_none=True)
        loss.total.backward()
        torch.nn.utils.clip_grad_norm_(self.detector.network.parameters(), LONGEST_GRADIENT)
        self.optimiser.step()
        if self.schedule.last_epoch < self.schedule.total_steps - 1:
            self.schedule.step()
        return loss

    def _validate(self) -> dict[str, float]:
        """Return the average precision on the validation part; nothing without objects."""
        results = [result for _, result in detect(self.detector.network, self.validation)]
        table = measure_precision(results, len(self.detector.labels), ["all"])
        values = {"val_map": table.mean_precision(), "val_map_50": table.mean_precision(0.5)}
        return {name: value for name, value in values.items() if value >= 0}

    def _say(self, epoch: int, loss: float, images_per_s: float) -> None:
        at_half = self.last_metrics.get("val_map_50")
        shown = "" if at_half is None else f" · validation mAP at 0.5 {at_half:.3f}"
        done = f"epoch {epoch + 1}/{self.settings.epochs}"
        print(f"{done} · loss {loss:.4f}{shown} · {images_per_s:.0f} pictures/s", flush=True)
        run.progress((epoch + 1) / self.settings.epochs, done)

    def _state(self, epoch: int) -> dict[str, Any]:
        return {
            "epoch": epoch,
            "network": self.detector.network.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "schedule": self.schedule.state_dict(),
            "metrics": self.last_metrics,
        }

    def _resume(self) -> int:
        """Load the last checkpoint; return how many epochs are done."""
        checkpoint = run.resume()
        if checkpoint is None:
            return 0
        state = torch.load(checkpoint.file("state.pt"), map_location=self.device, weights_only=True)
        self.detector.network.load_state_dict(state["network"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.schedule.load_state_dict(state["schedule"])
        self.last_metrics = state["metrics"]
        print(f"Going on after epoch {state['epoch']} from a checkpoint.", flush=True)
        return int(state["epoch"])
