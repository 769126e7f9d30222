import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Attempt } from '@/api/contract/jobs';
import { expectNoViolations } from '@/test/axe';
import { renderPage } from '@/test/render';
import { Attempts, isWorthAList } from './Attempts';

const rank = (number: number, extra: object = {}) => ({
  number,
  node: `node-${number}`,
  heartbeat_at: null,
  exit_code: null,
  signal: null,
  ended_at: null,
  ...extra,
});
const attempt = (number: number, ranks: object[]) =>
  ({ id: `attempt-${number}`, number, state: 'running', cluster: 'far', node: 'node-0', ranks }) as Attempt;

test('an attempt of several ranks says where each runs and how it ended', async () => {
  const { container } = await renderPage(<Attempts attempts={[attempt(1, [rank(0), rank(1, { exit_code: 3 })])]} />);
  const ranks = screen.getAllByRole('listitem');
  expect(ranks.map(({ textContent }) => textContent)).toEqual(['Rank 0: node-0', 'Rank 1: node-1 · exit code 3']);
  screen.getByText('far');
  await expectNoViolations(container);
});

test('an attempt of one rank says its cluster and node in one line', async () => {
  const { container } = await renderPage(<Attempts attempts={[attempt(1, [rank(0)])]} />);
  within(container).getByText('far / node-0');
  expect(screen.queryByRole('list')).toBeNull();
});

test.each([
  ['one attempt of one rank', [attempt(1, [rank(0)])], false],
  ['one attempt of two ranks', [attempt(1, [rank(0), rank(1)])], true],
  ['two attempts', [attempt(1, [rank(0)]), attempt(2, [rank(0)])], true],
])('the list is shown where it says more than the header: %s', (_case, attempts, shown) => {
  expect(isWorthAList(attempts)).toBe(shown);
});
