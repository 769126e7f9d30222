import { Notifications } from '@mantine/notifications';
import { fireEvent, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { WorkPage } from './index';
import { beacons, labels, nobody, serveTask, slot, task } from './testTasks';

beforeEach(serveTask);

test('a batch is labelled by keys: a digit goes on, Enter shows the next batch', async () => {
  let leases = 0;
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing());
  serve('POST', 'labelx/tasks/{task_id}/lease/', () => {
    leases++;
    return { lease: leases > 2 ? [] : [slot(leases * 2), slot(leases * 2 + 1)] };
  });
  const { container } = await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await screen.findByRole('option', { name: '2.png: no class' });
  await expectNoViolations(container);
  const tap = (key: string) => {
    fireEvent.keyDown(window, { key });
    fireEvent.keyUp(window, { key });
  };
  tap('1');
  tap('2');
  await screen.findByRole('option', { name: '2.png: cat' });
  await screen.findByRole('option', { name: '3.png: dog' });
  tap('Enter');
  await screen.findByRole('option', { name: '4.png: no class' });
  fireEvent.keyDown(window, { key: 'Enter', shiftKey: true });
  await screen.findByRole('option', { name: '3.png: dog' });
  expect(sent.some(({ line }) => line.endsWith('/submit-batch/'))).toBe(false);
});

test('nested classes are found by a search, given with Enter, and undone', async () => {
  const nested = [
    { ...labels[0], id: 1, name: 'animal', hotkey: '', parent: null },
    { ...labels[0], id: 2, name: 'dog', hotkey: '1', parent: 1 },
    { ...labels[0], id: 3, name: 'collie', hotkey: '', parent: 2 },
  ];
  serve('GET', 'labelx/tasks/{task_id}/', { ...task(), labels: nested });
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing());
  serve('POST', 'labelx/tasks/{task_id}/lease/', { lease: [slot(2), slot(3)] });
  const { container } = await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await screen.findByRole('option', { name: '2.png: no class' });
  await expectNoViolations(container);
  await userEvent.click(screen.getByRole('button', { name: 'Classes of dog' }));
  expect(screen.queryByRole('button', { name: /collie/ })).toBeNull();
  fireEvent.keyDown(window, { key: '/' });
  const search = screen.getByRole('textbox', { name: 'Find a class' });
  expect(document.activeElement).toBe(search);
  await userEvent.keyboard('animal col');
  screen.getByRole('button', { name: /animal › dog › collie/ });
  await userEvent.keyboard('{Enter}');
  await screen.findByRole('option', { name: '2.png: collie' });
  expect(search).toHaveProperty('value', '');
  // The keys belong to the images again.
  fireEvent.keyDown(window, { key: '1' });
  fireEvent.keyUp(window, { key: '1' });
  await screen.findByRole('option', { name: '3.png: dog' });
  fireEvent.keyDown(window, { key: 'z', ctrlKey: true });
  fireEvent.keyDown(window, { key: 'z', ctrlKey: true });
  await screen.findByRole('option', { name: '2.png: no class' });
});

test('keys that fast hands press before they let go of the last one count in their order', async () => {
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing());
  let leases = 0;
  serve('POST', 'labelx/tasks/{task_id}/lease/', () => ({ lease: leases++ === 0 ? [slot(1), slot(2)] : [] }));
  serve('PUT', 'labelx/slots/{slot_id}/draft/', {});
  serve('POST', 'labelx/tasks/{task_id}/submit-batch/', { results: [{ slot: 's1', ok: true }] });
  await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await screen.findByRole('option', { name: '1.png: no class' });
  fireEvent.keyDown(window, { key: '1', code: 'Digit1' });
  fireEvent.keyDown(window, { key: '2', code: 'Digit2' });
  // Shift has changed what the key writes; it is the same key.
  fireEvent.keyUp(window, { key: '!', code: 'Digit1' });
  await screen.findByRole('option', { name: '1.png: cat' });
  screen.getByRole('option', { name: '2.png: no class' });
  fireEvent.keyDown(window, { key: 'Enter', code: 'Enter' });
  fireEvent.keyUp(window, { key: '2', code: 'Digit2' });
  await screen.findByText('Nothing left to label');
  const body = sent.find(({ line }) => line.endsWith('/submit-batch/'))?.body;
  expect(body).toMatchObject({
    submissions: [
      { slot: 's1', label_id: 1 },
      { slot: 's2', label_id: 2 },
    ],
  });
});

test('after the last batch the page says that it is saved, and what counts open images is asked again', async () => {
  let leases = 0;
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing());
  serve('POST', 'labelx/tasks/{task_id}/lease/', () => ({ lease: leases++ === 0 ? [slot(1), slot(2)] : [] }));
  serve('PUT', 'labelx/slots/{slot_id}/draft/', {});
  serve('POST', 'labelx/tasks/{task_id}/submit-batch/', {
    results: [
      { slot: 's1', ok: true },
      { slot: 's2', ok: true },
    ],
  });
  await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await screen.findByRole('option', { name: '1.png: no class' });
  for (const key of ['1', '2']) {
    fireEvent.keyDown(window, { key });
    fireEvent.keyUp(window, { key });
  }
  await screen.findByRole('option', { name: '2.png: dog' });
  screen.getByText(/^All have a class ·/);
  const asked = () => sent.filter(({ line }) => line === 'GET /api/v1/labelx/tasks/t1/').length;
  const before = asked();
  fireEvent.keyDown(window, { key: 'Enter' });
  await screen.findByText('Nothing left to label');
  await screen.findByText('Saved');
  await waitFor(() => expect(asked()).toBeGreaterThan(before));
});

test('after the last batch the page says what became of answers that came too late', async () => {
  let leases = 0;
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing());
  serve('POST', 'labelx/tasks/{task_id}/lease/', () => ({ lease: leases++ === 0 ? [slot(1), slot(2)] : [] }));
  serve('POST', 'labelx/slots/{slot_id}/heartbeat/', {});
  serve('PUT', 'labelx/slots/{slot_id}/draft/', {});
  serve('POST', 'labelx/tasks/{task_id}/submit-batch/', {
    results: [
      { slot: 's1', ok: false, code: 'stale_lease' },
      { slot: 's2', ok: false, code: 'lease_elsewhere' },
    ],
  });
  await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await screen.findByRole('option', { name: '1.png: no class' });
  for (const key of ['1', '2']) {
    fireEvent.keyDown(window, { key });
    fireEvent.keyUp(window, { key });
  }
  await screen.findByRole('option', { name: '2.png: dog' });
  fireEvent.keyDown(window, { key: 'Enter' });
  await screen.findByText('Nothing left to label');
  expect(await screen.findByText(/1 image had been given to somebody else. Your answer is kept/)).toBeTruthy();
  expect(screen.getByText(/1 image was open in another window of yours/)).toBeTruthy();
});

test('an image that was sent back says why, and which class it had', async () => {
  serve('POST', 'labelx/tasks/{task_id}/take-up/', {
    results: [{ ...slot(1), state: 'returned', label_id: 2, returned_code: 'wrong_label' }],
  });
  await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await screen.findByText('Returned: wrong class (you chose dog)');
  screen.getByRole('option', { name: '1.png: no class. Sent back. Returned: wrong class (you chose dog)' });
});

test('Enter does not submit images without a class', async () => {
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing());
  serve('POST', 'labelx/tasks/{task_id}/lease/', { lease: [slot(1), slot(2)] });
  await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await screen.findByRole('option', { name: '1.png: no class' });
  fireEvent.keyDown(window, { key: 'Enter' });
  expect((await screen.findByRole('alert')).textContent).toContain('2 images have no class yet');
});

const holder = { name: 'Maria Rossi', returned: false, items: 10, until: '2026-01-01T14:32:00Z', working: false };
const nothingToLabel = () => {
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing());
  serve('POST', 'labelx/tasks/{task_id}/lease/', { lease: [] });
};

test('when nothing is left the page names who holds images until when, and goes on when they come free', async () => {
  nothingToLabel();
  serve('GET', 'labelx/tasks/{task_id}/waiting/', {
    ...nobody,
    holders: [holder, { ...holder, name: 'Ben', items: 1, working: true }],
  });
  const { container } = await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await screen.findByText(/^10 images are held by Maria Rossi until \d\d:\d\d; they come free then\.$/);
  screen.getByText(/^Ben is labeling 1 image: reserved until/);
  await expectNoViolations(container);
  serve('POST', 'labelx/tasks/{task_id}/lease/', { lease: [slot(1)] });
  serve('GET', 'labelx/tasks/{task_id}/waiting/', { ...nobody, open: 1 });
  await screen.findByRole('option', { name: '1.png: no class' }, { timeout: 8000 });
}, 15_000);

test('what another window shows and what one skipped is said, each with its button', async () => {
  nothingToLabel();
  serve('GET', 'labelx/tasks/{task_id}/waiting/', { ...nobody, elsewhere: 2, skipped: 1 });
  serve('POST', 'labelx/tasks/{task_id}/unskip/', { count: 1 });
  await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await screen.findByText(/2 images are open in another window of yours/);
  await userEvent.click(screen.getByRole('button', { name: 'Label after all' }));
  await waitFor(() => expect(sent.some(({ line }) => line.endsWith('/unskip/'))).toBe(true));
  await userEvent.click(await screen.findByRole('button', { name: 'Go on here' }));
  const takes = () => sent.filter(({ line }) => line.endsWith('/take-up/')).map(({ body }) => body);
  await waitFor(() => expect(takes()).toContainEqual(expect.objectContaining({ everything: true })));
});

test('a skipped image leaves the batch with a toast that takes it back', async () => {
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing());
  let leases = 0;
  serve('POST', 'labelx/tasks/{task_id}/lease/', () => ({ lease: leases++ === 0 ? [slot(1), slot(2)] : [] }));
  serve('POST', 'labelx/slots/{slot_id}/skip/', {});
  serve('POST', 'labelx/slots/{slot_id}/unskip/', { ...slot(1), lease_no: 2 });
  await renderPage(
    <>
      <WorkPage />
      <Notifications />
    </>,
    '/labeling/t1/work',
    '/labeling/$taskId/work',
  );
  await screen.findByRole('option', { name: '1.png: no class' });
  await userEvent.click(screen.getByRole('button', { name: 'Skip with a reason' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Bad image' }));
  await waitFor(() => expect(screen.queryByRole('option', { name: /^1\.png/ })).toBeNull());
  expect(sent.find(({ line }) => line.endsWith('/skip/'))?.body).toEqual({ lease_no: 1, reason: 'bad_image' });
  await screen.findByText('1.png was skipped; somebody else gets it.');
  const undo = screen.getAllByRole('button', { name: 'Undo' }).find((one) => one.textContent === 'Undo');
  await userEvent.click(undo as HTMLElement);
  await screen.findByRole('option', { name: '1.png: no class' });
});

test('leaving the page sends a form with the token and says which page it was; the next one in the tab names it', async () => {
  // biome-ignore lint/suspicious/noDocumentCookie: the browser's way to have a token
  document.cookie = 'csrftoken=secret';
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing());
  serve('POST', 'labelx/tasks/{task_id}/lease/', { lease: [slot(1)] });
  const first = await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await screen.findByRole('option', { name: '1.png: no class' });
  const taken = () =>
    sent.filter(({ line }) => line.endsWith('/take-up/')).at(-1)?.body as { page: string; from_page: string };
  const { page } = taken();
  first.unmount();
  expect(beacons).toEqual([['/api/v1/labelx/tasks/t1/leave/', { page, csrfmiddlewaretoken: 'secret' }]]);
  await renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
  await waitFor(() => expect(taken()).toMatchObject({ from_page: page }));
  expect(taken().page).not.toBe(page);
});
