import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import type { Run } from '@/api/contract/jobs';
import { expectNoViolations } from '@/test/axe';
import { problem, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import '../words';
import { MergedLog } from './MergedLog';

const rank = (number: number) => ({ number, node: null, pod: null });
const run = {
  id: 'run-1',
  state: 'succeeded',
  attempts: [{ number: 1, ranks: [rank(0), rank(1)] }],
} as unknown as Run;
const line = (number: number, text: string, stream = 'stdout') => ({ rank: number, ts_ns: 1, stream, text });
const answer = { attempt: 1, attempt_id: 'a', next: '0:5:1,1:7:1', eof: false };

test('the lines of all ranks come one after the other, each with its rank', async () => {
  const asked: (string | null)[] = [];
  serve('GET', 'runs/{run_id}/logs/merged/', (_request: Request, url: URL) => {
    const after = url.searchParams.get('after');
    asked.push(after);
    return after
      ? { ...answer, lines: [line(1, 'third', 'stderr')], eof: true }
      : { ...answer, lines: [line(0, 'first'), line(1, 'second')] };
  });
  const { container } = await renderPage(<MergedLog run={run} attempt={1} paused={false} />);
  await screen.findByText('third');
  const shown = [...screen.getByLabelText('Log lines').children].map(({ textContent }) => textContent);
  expect(shown).toEqual(['0first', '1second', '1third']);
  expect(asked).toEqual([null, '0:5:1,1:7:1']);
  await expectNoViolations(container);
});

test('a log that cannot be read says so, and is read again on request', async () => {
  let broken = true;
  serve('GET', 'runs/{run_id}/logs/merged/', () =>
    broken ? problem(500, 'internal_error', 'Broken.') : { ...answer, lines: [line(0, 'here')], eof: true },
  );
  await renderPage(<MergedLog run={run} attempt={1} paused={false} />);
  const again = await screen.findByRole('button', { name: /again/i }, { timeout: 5000 });
  broken = false;
  await userEvent.click(again);
  await waitFor(() => screen.getByText('here'));
});
