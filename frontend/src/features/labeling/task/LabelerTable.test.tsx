import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { LabelerTable } from './LabelerTable';

const row = (labeler: string, edits: object | null) => ({
  labeler,
  submitted: 4,
  accepted: 3,
  returned: 1,
  median_active_ms: 2000,
  pre_label_edits: edits,
});

test('each labeler has the changed pre-labels beside all of them, or a dash', async () => {
  const edits = { kept: 1197, reshaped: 2, relabelled: 1, added: 7, removed: 0 };
  serve('GET', 'labelx/tasks/{task_id}/stats/', listing(row('ann', edits), row('bob', null)));
  const { container } = await renderPage(<LabelerTable taskId="t1" />);
  await screen.findByText('ann');
  expect(screen.queryByRole('columnheader', { name: /Pre-labels changed/ })).not.toBeNull();
  const rowOf = (name: string) => within(screen.getByText(name).closest('[role=row],tr') as HTMLElement);
  expect(rowOf('ann').queryByText('3 of 1,200')).not.toBeNull();
  expect(rowOf('bob').queryByText('–')).not.toBeNull();
  await expectNoViolations(container);
});
