"""Runs: from the wizard to a finished run, its log live, its curves, its files; cancelling."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, WebSocket, expect

from atom_sdk.client import Client
from tests.browser.seed import DATASET, MODEL, Seed, start_command
from tests.browser.visiting import prefer_language

END_MS = 120_000
_OPEN_QUOTE = "A quotation mark is opened here and never closed."
_TOO_SMALL = "Must be at least 1, got -3."
_TICK = "import time; [print('tick', n, flush=True) or time.sleep(0.2) for n in range(40)]"


def badge(page: Page, state: str) -> None:
    expect(page.get_by_text(state, exact=True).first).to_be_visible(timeout=END_MS)


def test_the_wizard_starts_a_command_whose_log_arrives_without_a_reload(
    signed_in_page: Page, seed: Seed
) -> None:
    page = signed_in_page
    sockets: list[WebSocket] = []
    frames: list[str] = []

    def keep(socket: WebSocket) -> None:
        sockets.append(socket)
        socket.on("framereceived", lambda data: frames.append(str(data)))

    page.on("websocket", keep)
    page.goto("/runs")
    page.get_by_role("link", name="New run").first.click()
    page.get_by_role("radio", name="Your own command").click()
    page.get_by_role("textbox", name="Command").fill(f'python -c "{_TICK}"')
    page.get_by_role("textbox", name=re.compile("^Name")).fill("ticking")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("textbox", name=re.compile("Memory"))).to_be_visible()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Runs on")).to_be_visible()
    page.get_by_role("button", name="Start run", exact=True).click()

    expect(page.get_by_role("heading", name="ticking", level=1)).to_be_visible()
    page.evaluate("window.notReloaded = true")
    badge(page, "Running")
    expect(page.get_by_text("tick 3", exact=True)).to_be_visible(timeout=END_MS)
    badge(page, "Succeeded")
    expect(page.get_by_text("tick 39", exact=True)).to_be_visible()
    assert page.evaluate("window.notReloaded") is True
    assert any("/ws/runs/" in socket.url for socket in sockets)
    assert any("tick" in frame for frame in frames), (frames, [one.url for one in sockets])
    assert seed.trained_run


def test_the_wizard_names_a_wrong_parameter_and_keeps_the_draft(
    signed_in_page: Page, seed: Seed
) -> None:
    page = signed_in_page
    page.goto(f"/runs/new?workflow=image-classification&dataset={DATASET}@v1")
    epochs = page.get_by_role("textbox", name=re.compile("epochs", re.I))
    epochs.fill("-3")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text(_TOO_SMALL)).to_be_visible()
    epochs.fill("2")
    expect(page.get_by_text(_TOO_SMALL)).to_have_count(0)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("textbox", name=re.compile("Memory"))).to_be_visible()
    page.reload()
    page.go_back()
    expect(page.get_by_role("textbox", name=re.compile("epochs", re.I))).to_have_value("2")
    assert seed.trained_run


def test_a_version_chosen_after_train_on_this_version_stays(
    signed_in_page: Page, seed: Seed
) -> None:
    page = signed_in_page
    page.goto(f"/datasets/{DATASET}?ref=v1")
    page.get_by_role("link", name="Train on this version").click()
    version = page.get_by_role("combobox", name=re.compile("version", re.I))
    expect(version).to_have_value(re.compile("^v1"))
    version.click()
    page.get_by_role("option", name=re.compile("^v2")).click()
    page.reload()
    expect(version).to_have_value(re.compile("^v2"))
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("textbox", name=re.compile("Memory"))).to_be_visible()
    page.reload()
    page.go_back()
    expect(version).to_have_value(re.compile("^v2"))
    assert seed.trained_run


def test_a_command_with_an_open_quote_is_not_started(signed_in_page: Page, seed: Seed) -> None:
    page = signed_in_page
    page.goto("/runs/new")
    page.get_by_role("radio", name="Your own command").click()
    command = page.get_by_role("textbox", name="Command")
    command.fill("python -c 'print(1)")
    expect(page.get_by_text(_OPEN_QUOTE)).to_be_visible()
    page.get_by_role("button", name="Continue").click()
    page.goto("/runs/new?step=3")
    expect(page.get_by_text(_OPEN_QUOTE)).to_be_visible()
    expect(page.get_by_role("button", name="Start run", exact=True)).to_be_disabled()
    page.goto("/runs/new?step=1")
    command.fill("python -c 'print(1)'")
    expect(page.get_by_text(_OPEN_QUOTE)).to_have_count(0)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("textbox", name=re.compile("Memory"))).to_be_visible()
    assert seed.trained_run


def test_a_run_that_no_machine_could_take_is_refused_in_the_wizard(
    signed_in_page: Page, seed: Seed
) -> None:
    page = signed_in_page
    page.goto("/runs/new")
    page.get_by_role("radio", name="Your own command").click()
    page.get_by_role("textbox", name="Command").fill("true")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("textbox", name="CPUs", exact=True).fill("4000")
    expect(page.get_by_text("It can never run here")).to_be_visible()
    expect(page.get_by_text("Nothing to fetch")).to_have_count(0)
    page.goto("/runs/new?step=3")
    expect(page.get_by_role("button", name="Start run", exact=True)).to_be_disabled()
    assert seed.trained_run


def test_a_model_is_registered_as_the_whole_output_of_its_run(
    signed_in_page: Page, seed: Seed
) -> None:
    page = signed_in_page
    page.goto(f"/runs/{seed.trained_run}")
    expect(page.get_by_role("link", name=f"{MODEL} version 1")).to_be_visible()
    page.get_by_role("button", name="Register again").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("This run is registered already, as")).to_be_visible()
    expect(dialog.get_by_role("combobox", name="Output")).to_have_value("model/ (2 files)")
    dialog.get_by_role("textbox", name="Model").fill("shapes-again")
    dialog.get_by_role("button", name="Register").click()
    expect(page).to_have_url(re.compile("/models/shapes-again/versions/1"))
    # The seed's model is not one of the workflow's: nothing here could evaluate it.
    expect(page.get_by_role("link", name="Evaluate")).to_have_count(0)
    reason = re.compile("no model.json")
    expect(page.get_by_role("button", name="Evaluate")).to_have_accessible_description(reason)


def test_a_run_speaks_chinese_in_the_chinese_portal(signed_in_page: Page, seed: Seed) -> None:
    page = signed_in_page
    prefer_language(page, "zh")
    page.goto(f"/runs/{seed.failed_run}?tab=events")
    expect(page.get_by_text("命令以退出码 1 结束").first).to_be_visible()
    expect(page.get_by_text("代码出错")).to_be_visible()
    expect(page.get_by_text("运行失败。")).to_be_visible()
    expect(page.get_by_text("启动了运行")).to_be_visible()
    expect(page.get_by_text("The command")).to_have_count(0)


def test_an_unknown_order_is_taken_out_of_the_address(signed_in_page: Page, seed: Seed) -> None:
    page = signed_in_page
    for address in ("/runs", "/models"):
        page.goto(f"{address}?sort=bogus")
        expect(page.get_by_role("table")).to_be_visible()
        expect(page).to_have_url(re.compile(rf"{address}\?project=\w+$"))
    page.goto("/runs")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page).to_have_url(re.compile(r"/runs\?project=\w+&sort=name$"))
    assert seed.trained_run


def test_curves_are_drawn_and_readable_as_a_table(signed_in_page: Page, seed: Seed) -> None:
    page = signed_in_page
    page.goto(f"/runs/{seed.trained_run}?tab=curves")
    expect(page.locator("canvas").first).to_be_visible()
    expect(page.get_by_text("train/loss").first).to_be_visible()
    expect(page.get_by_text("train/accuracy").first).to_be_visible()


def test_a_failure_says_what_happened_and_what_to_do(signed_in_page: Page, seed: Seed) -> None:
    page = signed_in_page
    page.goto(f"/runs/{seed.failed_run}")
    expect(page.get_by_text("The command ended with exit code 1").first).to_be_visible()
    expect(page.get_by_text("JSONDecodeError").first).to_be_visible()
    expect(page.get_by_text("Read the traceback").first).to_be_visible()


def test_a_file_of_a_run_is_downloaded(signed_in_page: Page, seed: Seed) -> None:
    page = signed_in_page
    page.goto(f"/runs/{seed.trained_run}?tab=files")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download notes.txt").click()
    assert Path(download.value.path()).read_text() == "trained on shapes\n"


def test_the_log_is_searched_and_a_line_is_linked(signed_in_page: Page, seed: Seed) -> None:
    page = signed_in_page
    page.goto(f"/runs/{seed.trained_run}")
    page.get_by_role("textbox", name="Find in the log").fill("step 42 ")
    expect(page.get_by_text("1 of 1")).to_be_visible()
    expect(page.locator("[data-marked=true]")).to_contain_text("step 42 loss")
    page.get_by_role("button", name="Link to line 42").click(force=True)
    expect(page).to_have_url(re.compile("line=42"))


def test_a_running_command_is_cancelled(signed_in_page: Page, seed: Seed, atom: Client) -> None:
    page = signed_in_page
    code = "import time; print('waiting', flush=True); time.sleep(300)"
    run = start_command(atom, "to cancel", code)
    page.goto(f"/runs/{run}")
    expect(page.get_by_text("waiting", exact=True)).to_be_visible(timeout=END_MS)
    page.get_by_role("button", name="Cancel run").click()
    badge(page, "Cancelling")
    page.get_by_role("button", name="Undo").click()
    badge(page, "Running")
    page.get_by_role("button", name="Cancel run").click()
    badge(page, "Cancelled")
    history = atom.http.get(f"runs/{run}/events/")["results"]
    assert [event["kind"] for event in history].count("cancel_requested") == 1
    expect(page.get_by_role("button", name="Retry")).to_be_visible()
    assert seed.trained_run
