"""Trains a small convolutional network on a dataset's labelled images."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from artifacts import Classifier, to_bytes  # type: ignore[import-not-found]
from data import (  # type: ignore[import-not-found]
    NothingReadableError,
    Part,
    carve_validation,
    labelled,
    with_classes,
)
from evaluation import (  # type: ignore[import-not-found]
    Predictions,
    accuracy_of,
    describe,
    predict,
    to_input,
)
from images import ImageFormat  # type: ignore[import-not-found]
from loading import ImageTable, guess_channels, measure_pixels  # type: ignore[import-not-found]
from network import SmallConvNet  # type: ignore[import-not-found]
from predictions import write_predictions  # type: ignore[import-not-found]
from progress import ProgressLine  # type: ignore[import-not-found]
from schedule import warm_up_share  # type: ignore[import-not-found]

from atom_sdk import run

LABEL_SMOOTHING = 0.05
WEIGHT_DECAY = 0.01
LOG_EVERY_BATCHES = 10


@dataclass(frozen=True)
class Settings:
    """The run's parameters."""

    dataset: str
    epochs: int
    batch_size: int
    learning_rate: float
    image_size: int
    hidden: str
    seed: int


def main() -> None:
    """Train from the start or the last checkpoint, measure, hand over the model.

    Raises RunFailure for data that nothing can be learned from, and for a GPU that is too small.
    """
    settings = read_settings()
    try:
        train_model(settings)
    except torch.cuda.OutOfMemoryError as error:
        raise run.RunFailure(
            "gpu_out_of_memory",
            "The GPU ran out of memory.",
            batch_size=settings.batch_size,
            image_size=settings.image_size,
        ) from error


def train_model(settings: Settings) -> None:
    """Train, measure and hand over. Raises RunFailure."""
    torch.manual_seed(settings.seed)
    samples = run.dataset("dataset", split="train")
    everything, classes = labelled(samples)
    training, validation = split_off_validation(everything, classes, settings)
    trainer = Trainer(settings, training, validation, classes)
    trainer.train()
    trainer.write_validation()
    unreadable = trainer.table.unreadable
    print(f"{len(unreadable)} of {len(everything)} images could not be read.", flush=True)
    signature = {"input": "image", "output": "label", "labels": classes}
    files = trainer.classifier.files()
    run.save_model(files, framework="pytorch", metrics=trainer.last_metrics, signature=signature)


def read_settings() -> Settings:
    """Return the parameters, with the workflow's defaults outside a run."""
    given = run.params
    return Settings(
        dataset=given.get("dataset", ""),
        epochs=given.get("epochs", 6),
        batch_size=given.get("batch_size", 64),
        learning_rate=given.get("learning_rate", 0.004),
        image_size=given.get("image_size", 28),
        hidden=given.get("hidden", "small"),
        seed=given.get("seed", 7),
    )


def split_off_validation(
    everything: Part, classes: list[str], settings: Settings
) -> tuple[Part, Part]:
    """Return (training, validation): the dataset's own split if it has one, else a tenth."""
    own = with_classes(run.dataset("dataset", split="val"), classes)
    if len(own):
        return everything, own
    return carve_validation(everything, settings.seed)


class Trainer:
    """The network, its optimiser and where they are."""

    def __init__(
        self, settings: Settings, training: Part, validation: Part, classes: list[str]
    ) -> None:
        """Look at the images and build a network for them."""
        self.settings, self.training, self.validation = settings, training, validation
        channels = guess_channels(training.samples, training.numbers.tolist())
        plain = ImageFormat(settings.image_size, channels)
        self.table = ImageTable(training.samples, plain)
        same = validation.samples is training.samples
        self.validation_table = self.table if same else ImageTable(validation.samples, plain)
        mean, std = measure_pixels(self.table, training.numbers)
        form = replace(plain, mean=mean, std=std)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        network = SmallConvNet(channels, len(classes), settings.hidden).to(self.device)
        self.classifier = Classifier(network, classes, form, settings.hidden)
        self.optimiser = torch.optim.AdamW(
            network.parameters(), lr=settings.learning_rate, weight_decay=WEIGHT_DECAY
        )
        self.batches = -(-len(training) // settings.batch_size)
        steps = settings.epochs * self.batches
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(
            self.optimiser,
            settings.learning_rate,
            total_steps=steps,
            pct_start=warm_up_share(steps),
        )
        self.last_metrics: dict[str, float] = {}
        self._validated: Predictions | None = None
        print(
            f"{len(training)} images to train on, {len(validation)} to validate on, "
            f"{len(classes)} classes, {channels} channel(s), on {self.device}.",
            flush=True,
        )

    def train(self) -> None:
        """Run the epochs that are left; a checkpoint after each."""
        for epoch in range(self._resume(), self.settings.epochs):
            started_s = time.monotonic()
            loss = self._train_epoch(epoch)
            images_per_s = len(self.training) / (time.monotonic() - started_s)
            self.last_metrics = self._validate()
            rate = self.optimiser.param_groups[0]["lr"]
            run.log(
                {
                    "train_loss": loss,
                    "learning_rate": rate,
                    "images_per_s": images_per_s,
                    **self.last_metrics,
                },
                # The same axis as the loss of each batch.
                step=(epoch + 1) * self.batches,
            )
            self._say(epoch, loss, images_per_s)
            run.save_checkpoint(epoch + 1, {"state.pt": to_bytes(self._state(epoch + 1))})

    def _train_epoch(self, epoch: int) -> float:
        """Return the mean loss over the epoch's images. Raises NothingReadableError."""
        self.classifier.network.train()
        random = np.random.default_rng([self.settings.seed, epoch])
        torch.manual_seed(int(random.integers(1 << 31)))
        order = random.permutation(len(self.training))
        numbers, targets = self.training.numbers[order], self.training.targets[order]
        bar = ProgressLine(epoch, self.settings.epochs, self.batches)
        total, seen = 0.0, 0
        batches = self.table.batches(numbers, targets, self.settings.batch_size)
        for place, batch in enumerate(run.track(batches)):
            loss = self._step(batch)
            total, seen = total + loss * len(batch.targets), seen + len(batch.targets)
            if place % LOG_EVERY_BATCHES == 0:
                run.log({"loss": loss}, step=epoch * self.batches + place)
            bar.draw(place + 1, total / seen, seen)
        bar.end()
        if not seen:
            raise NothingReadableError(len(self.training))
        return total / seen

    def _step(self, batch: Any) -> float:
        images = shift(to_input(batch, self.classifier.form, self.device))
        targets = torch.from_numpy(batch.targets).to(self.device)
        # A last batch of one image has no variance to normalise with.
        if len(targets) > 1:
            scores = self.classifier.network(images)
            loss = torch.nn.functional.cross_entropy(
                scores, targets, label_smoothing=LABEL_SMOOTHING
            )
            self.optimiser.zero_grad(set_to_none=True)
            loss.backward()
            self.optimiser.step()
        else:
            loss = torch.zeros(())
        if self.schedule.last_epoch < self.schedule.total_steps - 1:
            self.schedule.step()
        return float(loss.detach())

    def _validate(self) -> dict[str, float]:
        if not len(self.validation):
            return {}
        self._validated = self._predict_validation()
        matrix = self._validated.matrix(len(self.classifier.labels))
        return {"val_loss": self._validated.loss, "val_accuracy": accuracy_of(matrix)}

    def _predict_validation(self) -> Predictions:
        part = self.validation
        return predict(self.classifier, self.validation_table, part.numbers, part.targets)

    def write_validation(self) -> None:
        """Write what the trained network says of the validation images: `validation.json`."""
        if not len(self.validation):
            return
        predictions = self._validated or self._predict_validation()
        labels = self.classifier.labels
        record = describe(predictions.matrix(len(labels)), labels, "val")
        # Not evaluation.json: the registry records that as a measure on data never seen.
        (run.output_dir() / "validation.json").write_text(json.dumps(record, indent=2))
        write_predictions(predictions, self.validation_table, labels, "val")

    def _say(self, epoch: int, loss: float, images_per_s: float) -> None:
        accuracy = self.last_metrics.get("val_accuracy")
        shown = "" if accuracy is None else f" · validation accuracy {accuracy:.2%}"
        done = f"epoch {epoch + 1}/{self.settings.epochs}"
        print(f"{done} · loss {loss:.4f}{shown} · {images_per_s:.0f} images/s", flush=True)
        run.progress((epoch + 1) / self.settings.epochs, done)

    def _state(self, epoch: int) -> dict[str, Any]:
        return {
            "epoch": epoch,
            "batches": self.batches,
            "network": self.classifier.network.state_dict(),
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
        self.classifier.network.load_state_dict(state["network"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.schedule.load_state_dict(state["schedule"])
        self.last_metrics = state["metrics"]
        print(f"Going on after epoch {state['epoch']} from a checkpoint.", flush=True)
        return int(state["epoch"])


def shift(images: torch.Tensor) -> torch.Tensor:
    """Move each image by up to a twelfth of its size: shape (batch, channels, size, size)."""
    size = images.shape[-1]
    most = max(1, size // 12)
    padded = torch.nn.functional.pad(images, (most, most, most, most), mode="replicate")
    count = len(images)
    down, right = torch.randint(0, 2 * most + 1, (2, count, 1), device=images.device)
    along = torch.arange(size, device=images.device)
    rows, columns = (down + along)[:, :, None], (right + along)[:, None, :]
    which = torch.arange(count, device=images.device)[:, None, None]
    # Indexed dimensions come first, so the channels move to the end.
    moved: torch.Tensor = padded[which, :, rows, columns].permute(0, 3, 1, 2)
    return moved.contiguous()


if __name__ == "__main__":
    sys.exit(run.main(main))
