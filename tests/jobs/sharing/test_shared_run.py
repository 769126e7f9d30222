"""A link shows a run to people without an account; its end is announced to nobody."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import Client

from atom.accounts import actions
from atom.accounts.models import Project, User
from atom.jobs import states
from atom.jobs.failures.engines.failure_codes import FAILURE_CLASSES, FailureCode
from atom.jobs.failures.engines.failures import ExitReport, Limits, classify
from atom.jobs.failures.engines.public_messages import public_message
from atom.jobs.models import CodeSnapshot, Run, RunInput, RunShare
from atom.settings.rates import parse_rate
from tests.factories.accounts import make_member
from tests.factories.jobs import make_attempt, make_run
from tests.jobs.share_requests import (
    AT,
    COMMIT,
    PLACES,
    as_,
    look,
    make_maker,
    make_rich_run,
    share,
    shares_of,
)

pytestmark = pytest.mark.django_db

SHOWN = {
    "name", "state", "failure_class", "failure_reason", "failure", "progress", "created_at",
    "started_at", "finished_at", "duration_s", "created_by", "workflow", "parameters", "metrics",
    "datasets", "commit", "notes", "attempts", "expires_at", "with_log",
}  # fmt: skip
METRIC = {"key", "kind", "n", "last", "last_step", "vmin", "vmax", "step_min", "step_max"}
CURVE = {"key", "steps", "values", "ts", "n", "downsampled"}


@pytest.fixture
def maker(project: Project) -> User:
    return make_maker(project)


@pytest.fixture
def run(project: Project, maker: User) -> Run:
    return make_rich_run(project, maker)


def test_a_link_shows_exactly_this(run: Run, maker: User) -> None:
    made = share(run, maker, note="zirconium for Bo", with_log=True, days=7)
    assert made["link"].endswith(f"/shared-run#{made['token']}")
    assert "/shared-run#" in made["link"]
    whole, listed, curves, log = (look(made["token"], path) for path in PLACES)
    said = whole.json()
    assert set(said) == SHOWN
    assert {k: said[k] for k in ("name", "state", "created_by", "commit", "notes")} == {
        "name": "the run", "state": "running", "created_by": "Ada L", "commit": COMMIT,
        "notes": "Look at\nthe loss.",
    }  # fmt: skip
    assert said["parameters"] == {"lr": 0.1, "seed": 7}
    assert said["metrics"] == {"loss": 0.25}
    assert said["datasets"] == [{"dataset": "digits", "version": "v1"}]
    assert (said["failure"], said["failure_class"], said["failure_reason"]) == (None, None, None)
    assert said["duration_s"] >= 0
    assert [set(one) for one in listed.json()] == [METRIC]
    (curve,) = curves.json()["series"]
    assert (set(curve), curve["values"]) == (CURVE, [0.5, 0.25])
    assert set(log.json()) == {"attempt", "frames", "next", "eof"}
    assert [set(one) for one in log.json()["frames"]] == [{"byte_off", "ts_ns", "fd", "text"}] * 2
    assert [one["text"] for one in log.json()["frames"]] == ["epoch 1\n", "epoch 2\n"]
    everything = "".join(answer.content.decode() for answer in (whole, listed, curves, log))
    ids = [str(pk) for pk in (run.pk, run.project_id, maker.pk, made["id"], run.code_id)]
    for hidden in ("zirconium", maker.username, maker.email, run.project.slug, *ids):
        assert hidden not in everything.replace("digits", ""), hidden
    asked = look(made["token"], f"{AT}metrics/series/?key=system/zirconium")
    assert asked.json() == {"series": []}


def test_who_has_no_full_name_is_not_named(run: Run, maker: User) -> None:
    User.objects.filter(pk=maker.pk).update(full_name="")
    assert look(share(run, maker)["token"]).json()["created_by"] is None


def test_what_is_said_of_the_code_is_a_commit_or_nothing(run: Run, maker: User) -> None:
    CodeSnapshot.objects.update(git={"commit": "https://me:pass@git.example/x"})
    assert look(share(run, maker)["token"]).json()["commit"] is None


def test_the_answers_are_anonymous_and_kept_by_nobody(run: Run, maker: User) -> None:
    token = share(run, maker, with_log=True)["token"]
    signed_in = Client()
    signed_in.force_login(maker)
    for client in (Client(), signed_in):
        for path in PLACES:
            for given, status in ((token, 200), ("wrong", 404)):
                answer = look(given, path, client)
                assert answer.status_code == status
                assert not answer.cookies
                assert answer["Cache-Control"] == "no-store"
                assert answer["Referrer-Policy"] == "no-referrer"
                assert answer["X-Robots-Tag"] == "noindex, nofollow"
    # Other headers of a browser open nothing, and close nothing.
    bearer = {"Authorization": "Bearer atom_x_y", "Atom-Share": token}
    assert Client().get(AT, headers=bearer).status_code == 200
    assert signed_in.get(AT).status_code == 404
    assert look(token, f"{AT}?token=x").status_code == 400
    for method in ("post", "put", "patch", "delete"):
        sent = getattr(Client(), method)(AT, headers={"Atom-Share": token})
        assert sent.status_code == 405


def _expire(made: dict[str, Any], run: Run, maker: User) -> None:
    RunShare.objects.update(expires_at=Now() - timedelta(seconds=1))


def _end(made: dict[str, Any], run: Run, maker: User) -> None:
    path = shares_of(run, made["id"])
    assert [as_(maker).delete(path).status_code for _ in range(2)] == [204, 204]


def _archive(made: dict[str, Any], run: Run, maker: User) -> None:
    Run.objects.filter(pk=run.pk).update(archived_at=Now())


def _demote(made: dict[str, Any], run: Run, maker: User) -> None:
    actions.change_role(maker, "labeler", run.project, make_member(run.project, "admin"))


def _leave(made: dict[str, Any], run: Run, maker: User) -> None:
    actions.remove_member(maker, run.project, make_member(run.project, "admin"))


def _deactivate(made: dict[str, Any], run: Run, maker: User) -> None:
    User.objects.filter(pk=maker.pk).update(is_active=False)


def _forget(made: dict[str, Any], run: Run, maker: User) -> None:
    maker.delete()


def _remove(made: dict[str, Any], run: Run, maker: User) -> None:
    run.series.all().delete()
    RunInput.objects.all().delete()
    run.delete()


@pytest.mark.parametrize(
    "happens",
    [_expire, _end, _archive, _demote, _leave, _deactivate, _forget, _remove],
    ids=lambda one: one.__name__,
)
def test_a_link_that_is_over_is_as_one_that_never_was(
    run: Run, maker: User, happens: Callable[[dict[str, Any], Run, User], None]
) -> None:
    made = share(run, maker, with_log=True)
    assert look(made["token"]).status_code == 200
    happens(made, run, maker)
    _all_say_the_same(made["token"])


def test_a_link_of_an_installation_that_switched_them_off_is_unknown_too(
    run: Run, maker: User, settings: Any
) -> None:
    made = share(run, maker, with_log=True)
    settings.ATOM_SHARE_LINKS = False
    _all_say_the_same(made["token"])
    refused = as_(maker).post(shares_of(run), {}, format="json")
    assert (refused.status_code, refused.json()["code"]) == (403, "sharing_is_off")
    found = as_(maker).get(shares_of(run)).json()
    assert (found["enabled"], len(found["results"])) == (False, 1)


def _all_say_the_same(token: str) -> None:
    unknown = [look(given).json() for given in ("", "x", "atomshare_" + "A" * 43, "ÿ" * 500)]
    over = [look(token, path) for path in PLACES]
    assert {answer.status_code for answer in over} == {404}
    said = [{**one, "request_id": None} for one in (*unknown, *(one.json() for one in over))]
    assert said[0]["code"] == "share_unknown"
    assert all(one == said[0] for one in said)


def test_a_link_without_the_log_answers_so_there(run: Run, maker: User) -> None:
    token = share(run, maker)["token"]
    refused = look(token, f"{AT}log/")
    assert (refused.status_code, refused.json()["code"]) == (404, "share_unknown")
    assert look(token).json()["with_log"] is False


def test_the_log_is_read_by_offset_and_attempt(run: Run, maker: User) -> None:
    token = share(run, maker, with_log=True)["token"]
    rest = look(token, f"{AT}log/?attempt=1&from=8&limit_bytes=4").json()
    assert ([one["text"] for one in rest["frames"]], rest["next"]) == (["epoc"], 12)
    for wrong in ("attempt=9", "attempt=x", "from=x", "limit_bytes=x", "stream=stdout"):
        assert look(token, f"{AT}log/?{wrong}").status_code == 400, wrong
    waiting = make_run(run.project, maker)
    found = look(share(waiting, maker, with_log=True)["token"], f"{AT}log/").json()
    assert found == {"attempt": 0, "frames": [], "next": 0, "eof": False}


def test_a_retried_run_has_the_log_of_each_attempt(run: Run, maker: User) -> None:
    token = share(run, maker, with_log=True)["token"]
    first = look(token, f"{AT}log/").json()
    run.attempts.update(state=states.FAILED)
    make_attempt(run)
    assert look(token).json()["attempts"] == 2
    assert look(token, f"{AT}log/").json()["attempt"] == 2
    earlier = look(token, f"{AT}log/?attempt=1").json()
    assert (earlier["attempt"], earlier["frames"]) == (1, first["frames"])


def test_wrong_links_are_counted_for_their_address_and_right_ones_are_not(
    run: Run, maker: User, settings: Any
) -> None:
    token = share(run, maker)["token"]
    settings.ATOM_RATE_SIGN_IN_ADDRESS = parse_rate("3/h")
    there: dict[str, Any] = {"REMOTE_ADDR": "192.0.2.1"}
    assert [look(token, **there).status_code for _ in range(5)] == [200] * 5
    assert [look("x", **there).status_code for _ in range(4)] == [404, 404, 404, 429]
    refused = look(token, **there)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_requests")
    assert 1100 < int(refused["Retry-After"]) <= 1200
    assert refused["Cache-Control"] == "no-store"
    assert look(token, REMOTE_ADDR="192.0.2.2").status_code == 200


def test_when_it_was_seen_is_noted_to_the_minute(run: Run, maker: User) -> None:
    made = share(run, maker)
    assert made["last_seen_at"] is None
    look(made["token"])
    first = RunShare.objects.get().last_seen_at
    look(made["token"])
    assert first is not None
    assert RunShare.objects.get().last_seen_at == first
    RunShare.objects.update(last_seen_at=first - timedelta(minutes=2))
    look(made["token"])
    again = RunShare.objects.get().last_seen_at
    assert again is not None
    assert again > first - timedelta(minutes=1)


class TestFailures:
    """Outside, a failure is told without what a machine, a store or pip said."""

    def message_of(self, failure: dict[str, Any] | None, with_log: bool = False) -> Any:
        return public_message(failure, "at http://store:8333", with_log=with_log)

    def test_what_something_else_said_is_not_repeated(self) -> None:
        # These name numbers, signals and what the shared page shows anyway.
        numbers_only = {
            FailureCode.OUT_OF_MEMORY, FailureCode.DEADLINE, FailureCode.SIGNALLED,
            FailureCode.EXITED, FailureCode.RUNNER_LOST, FailureCode.NO_LABELS,
            FailureCode.NO_OBJECTS, FailureCode.SPLIT_EMPTY, FailureCode.NOTHING_READABLE,
            FailureCode.GPU_OUT_OF_MEMORY,
        }  # fmt: skip
        for code in set(FailureCode) - {FailureCode.EXITED_WITH_ERROR}:
            told = self.message_of({"code": code, "params": {"said": "x", "exit_code": 1}})
            assert told.code == (code if code in numbers_only else None)
            assert (told.reason is None) == (code not in numbers_only)

    def test_the_last_words_of_a_program_come_with_its_log(self) -> None:
        report = ExitReport("exited", 1, traceback="Traceback\nKeyError: 'x'")
        failure = classify(report, Limits(1, None))
        assert failure is not None
        noted = {"code": failure.code, "params": failure.params}
        without, with_log = (
            public_message(noted, failure.reason, with_log=given) for given in (False, True)
        )
        assert (without.reason, without.code) == (
            "The command ended with exit code 1.", FailureCode.EXITED,
        )  # fmt: skip
        assert "KeyError" in f"{with_log.reason}"

    def test_what_an_older_release_noted_is_not_told(self) -> None:
        assert self.message_of(None).reason is None
        assert self.message_of({"code": "of a newer release", "params": {}}).code is None

    def test_a_link_tells_the_class_and_no_more(self, project: Project) -> None:
        boss = make_member(project, "admin")
        run = make_run(project, boss)
        said = {"code": "runtime_build", "params": {"said": "https://me:pass@index"}}
        make_attempt(run, states.FAILED, evidence={"failure": said})
        Run.objects.filter(pk=run.pk).update(
            failure_class="RUNTIME_BUILD", failure_reason="pip said: https://me:pass@index"
        )
        found = look(share(run, boss)["token"])
        assert found.json()["failure_class"] in FAILURE_CLASSES
        assert (found.json()["failure"], found.json()["failure_reason"]) == (None, None)
        assert "index" not in found.content.decode()
