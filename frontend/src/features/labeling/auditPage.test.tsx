import { fireEvent, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { listenForShortcuts } from '@/shared/ui/shortcuts';
import { expectNoViolations } from '@/test/axe';
import { sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { AuditPage, TaskPage } from './index';
import { nobody, refusal, serveTask, slot, task } from './testTasks';

beforeEach(serveTask);

const item = (n: number) => ({ ...slot(n), slot_id: `s${n}`, label_id: 1, labeler: 'bo', revision_id: `r${n}` });

test('an audit sends back what was clicked and accepts the rest', async () => {
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', { lease: [item(1), item(2)] });
  serve('POST', 'labelx/audits/', {
    results: [
      { slot: 's1', ok: true },
      { slot: 's2', ok: true },
    ],
  });
  const { container } = await renderPage(<AuditPage />, '/labeling/t1/audit', '/labeling/$taskId/audit');
  await userEvent.click(await screen.findByRole('button', { name: /^2\.png: cat/ }));
  await expectNoViolations(container);
  await userEvent.click(screen.getByRole('button', { name: 'Accept 1, send back 1' }));
  await waitFor(() => expect(sent.find(({ line }) => line.endsWith('/audits/'))).toBeTruthy());
  const body = sent.find(({ line }) => line.endsWith('/audits/'))?.body as { decisions: object[] } | undefined;
  expect(body?.decisions).toMatchObject([
    { slot: 's1', verdict: 'accept' },
    { slot: 's2', verdict: 'return', error_code: 'wrong_label' },
  ]);
});

test('what an auditor has marked is marked still after a reload, until it is sent', async () => {
  const [one, two] = [item(1), item(2)];
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', { lease: [one, two] });
  serve('POST', 'labelx/audits/', { results: [{ slot: 's1', ok: true }] });
  const show = () => renderPage(<AuditPage />, '/labeling/t1/audit', '/labeling/$taskId/audit');
  const first = await show();
  await userEvent.type(await screen.findByRole('textbox', { name: 'Comment' }), 'a dog');
  await userEvent.click(screen.getByRole('button', { name: /^2\.png: cat/ }));
  first.unmount();

  // The first image has another answer by then; what was said of the old one is not said of it.
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', { lease: [{ ...one, revision_id: 'new' }, two] });
  const second = await show();
  await screen.findByText('a dog');
  expect(screen.getByRole('button', { name: /^1\.png/ }).getAttribute('aria-pressed')).toBe('false');
  await userEvent.click(screen.getByRole('button', { name: 'Accept 1, send back 1' }));
  await waitFor(() => expect(sent.some(({ line }) => line.endsWith('/audits/'))).toBe(true));
  await screen.findByRole('button', { name: 'Accept 2, send back 0' });
  second.unmount();
});

test('a task that is over has nothing to audit, and its page does not send there', async () => {
  serve('GET', 'labelx/tasks/{task_id}/', task({ state: 'published', offers: [] }));
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', () => refusal('task_not_active', {}));
  const page = await renderPage(<TaskPage />, '/labeling/t1', '/labeling/$taskId');
  await screen.findByRole('heading', { name: 'Pets' });
  expect(screen.queryByRole('link', { name: 'Audit 1 image' })).toBeNull();
  page.unmount();
  await renderPage(<AuditPage />, '/labeling/t1/audit', '/labeling/$taskId/audit');
  await screen.findByText('This task is published');
});

test('a batch under audit stays reserved while it is looked at, and what is lost is told', async () => {
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', { lease: [item(1), item(2)] });
  serve('POST', 'labelx/slots/s1/heartbeat/', {});
  serve('POST', 'labelx/slots/s2/heartbeat/', () => refusal('stale_lease', {}));
  const timers = vi.spyOn(globalThis, 'setInterval');
  onTestFinished(() => timers.mockRestore());
  await renderPage(<AuditPage />, '/labeling/t1/audit', '/labeling/$taskId/audit');
  await screen.findByRole('button', { name: /^1\.png/ });
  const beat = timers.mock.calls.find(([, delayMs]) => delayMs === 30_000)?.[0] as () => void;
  beat();
  await screen.findByText(/^The reservation of 1 image has run out/);
  const beats = sent.filter(({ line }) => line.endsWith('/heartbeat/'));
  expect(beats.map(({ line, body }) => [line.split('/').at(-3), body])).toEqual([
    ['s1', { lease_no: 1, page: expect.any(String) }],
    ['s2', { lease_no: 1, page: expect.any(String) }],
  ]);
});

test('an audit that another window of one holds is taken over here', async () => {
  const asked: unknown[] = [];
  serve('GET', 'labelx/tasks/{task_id}/waiting/', { ...nobody, elsewhere: 2 });
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', async (request: Request) => {
    const { everything } = (await request.json()) as { everything: boolean };
    asked.push(everything);
    return { lease: everything ? [item(1), item(2)] : [] };
  });
  await renderPage(<AuditPage />, '/labeling/t1/audit', '/labeling/$taskId/audit');
  await screen.findByText(/^2 images are open in another window of yours/);
  expect(screen.queryByText(/^New work appears here/)).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Go on here' }));
  await screen.findByRole('button', { name: /^1\.png/ });
  expect(asked.at(-1)).toBe(true);
});

test('Enter that is pressed twice or held submits one batch, and not the next one unseen', async () => {
  let leases = 0;
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', () => ({ lease: [item(++leases)] }));
  serve('POST', 'labelx/audits/', { results: [{ slot: 's1', ok: true }] });
  onTestFinished(listenForShortcuts());
  await renderPage(<AuditPage />, '/labeling/t1/audit', '/labeling/$taskId/audit');
  await screen.findByRole('button', { name: /^1\.png/ });
  const submitted = () => sent.filter(({ line }) => line.endsWith('/audits/')).length;
  const press = (repeat = false) => fireEvent.keyDown(window, { key: 'Enter', repeat });
  press();
  press();
  await screen.findByRole('button', { name: /^2\.png/ });
  expect(submitted()).toBe(1);
  press(true);
  expect(submitted()).toBe(1);
  press();
  await screen.findByRole('button', { name: /^3\.png/ });
  expect(submitted()).toBe(2);
});

/** The audit, left and come back to with what was read before at hand. */
function Visits() {
  const [there, setThere] = useState(true);
  return (
    <>
      <button type="button" onClick={() => setThere(!there)}>
        {there ? 'Leave' : 'Come back'}
      </button>
      {there && <AuditPage />}
    </>
  );
}

test('who comes back to the audit gets what waits then, not the batch that is decided', async () => {
  let decided = 0;
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', () => ({ lease: [item(decided + 1)] }));
  serve('POST', 'labelx/audits/', () => ({ results: [{ slot: `s${++decided}`, ok: true }] }));
  await renderPage(<Visits />, '/labeling/t1/audit', '/labeling/$taskId/audit');
  await screen.findByRole('button', { name: /^1\.png/ });
  await userEvent.click(screen.getByRole('button', { name: 'Accept 1, send back 0' }));
  await screen.findByRole('button', { name: /^2\.png/ });
  await userEvent.click(screen.getByRole('button', { name: 'Leave' }));
  await userEvent.click(screen.getByRole('button', { name: 'Come back' }));
  await screen.findByRole('button', { name: /^\d\.png/ });
  expect(screen.queryByRole('button', { name: /^1\.png/ })).toBeNull();
});

test('whoever labelled all that waits for audit is told so at the button, and counts leave their own out', async () => {
  const own = { leased: 0, returned: 0, to_audit: 0, own_audits: 6 };
  serve('GET', 'labelx/tasks/{task_id}/', task({ offers: ['label'], my: own }));
  const page = await renderPage(<TaskPage />, '/labeling/t1', '/labeling/$taskId');
  await screen.findByText('You labelled all of these 6 images; somebody else must audit them.');
  expect(screen.queryByRole('link', { name: /^Audit/ })).toBeNull();
  page.unmount();
  serve('POST', 'labelx/tasks/{task_id}/audit-lease/', () => refusal('auditor_is_labeler', {}));
  await renderPage(<AuditPage />, '/labeling/t1/audit', '/labeling/$taskId/audit');
  await screen.findByText('Nothing to audit');
  screen.getByText(/somebody else must audit them/);
});
