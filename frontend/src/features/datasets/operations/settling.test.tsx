import { useForm } from '@mantine/form';
import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import type { OperationPreview, PreviewConflict } from '@/api/contract/datasets';
import { ApiError } from '@/api/errors';
import { expectNoViolations } from '@/test/axe';
import { eventually } from '@/test/eventually';
import { renderPage } from '@/test/render';
import { Conflicts } from './Conflicts';
import { countSettled, resolutionsOf, UNSETTLED } from './settling';
import { type SettlingBody, useSettling } from './useSettling';

const conflict = (path: string, extra: Partial<PreviewConflict> = {}): PreviewConflict => ({
  path,
  layer: '',
  field: '',
  ours: 'changed',
  theirs: 'changed',
  our_value: '',
  their_value: '',
  other_path: '',
  our_thumb_url: null,
  their_thumb_url: null,
  ...extra,
});
const found = (conflicts: PreviewConflict[], total = conflicts.length) =>
  ({ conflicts, conflicts_total: total, head: { commit: 'f'.repeat(64) } }) as OperationPreview;

interface DialogProps {
  data: OperationPreview;
  onSend?: (body: SettlingBody) => Promise<unknown>;
  refetch?: () => void;
}

function Dialog({ data, onSend = async () => undefined, refetch = () => undefined }: DialogProps) {
  const form = useForm({ initialValues: { ...UNSETTLED, branch: 'main' } });
  const conflicts = useSettling(form, { data, isLoading: false, refetch }, form.values.branch);
  return (
    <main>
      <Conflicts conflicts={conflicts} branch={form.values.branch} source="fix" />
      <button type="button" disabled={!conflicts.isReady} onClick={() => conflicts.send(onSend).catch(() => undefined)}>
        Merge
      </button>
      <button type="button" onClick={() => form.setFieldValue('branch', 'next')}>
        Another branch
      </button>
    </main>
  );
}

const show = (props: DialogProps) => renderPage(<Dialog {...props} />, '/', '/');
const row = (name: string) => within(screen.getByRole('radiogroup', { name }));
const press = (name: string) => userEvent.click(screen.getByRole('button', { name }));
const isDisabled = () => screen.getByRole('button', { name: 'Merge' }).hasAttribute('disabled');

test('each conflict is settled by the keyboard, with pictures of both sides', async () => {
  const sent = vi.fn(async () => undefined);
  const pictures = { our_thumb_url: '/media/ours', their_thumb_url: '/media/theirs' };
  const { container } = await show({ data: found([conflict('a.png', pictures), conflict('b')]), onSend: sent });
  const images = [...container.querySelectorAll('img')].map((image) => image.getAttribute('src'));
  expect(images).toEqual(['/media/ours', '/media/theirs']);
  screen.getByText('0 of 2 settled');
  await expectNoViolations(container);

  row('a.png').getByRole('radio', { name: 'this branch' }).focus();
  await userEvent.keyboard('[Space][ArrowDown]');
  expect(row('a.png').getByRole<HTMLInputElement>('radio', { name: 'the other side' }).checked).toBe(true);
  screen.getByText('1 of 2 settled');
  expect(isDisabled()).toBe(true);
  await userEvent.click(row('b').getByRole('radio', { name: 'this branch' }));
  await press('Merge');

  expect(sent).toHaveBeenCalledWith({
    on_conflict: 'fail',
    expected_head: 'f'.repeat(64),
    resolutions: [
      { path: 'a.png', layer: '', field: '', take: 'theirs' },
      { path: 'b', layer: '', field: '', take: 'ours' },
    ],
  });
});

test('all take one side at once, and single ones the other', async () => {
  const sent = vi.fn(async () => undefined);
  await show({ data: found([conflict('a'), conflict('b')]), onSend: sent });
  await press('the other side (fix)');
  screen.getByText('2 of 2 settled');
  await press('Merge');
  expect(sent).toHaveBeenLastCalledWith({ on_conflict: 'theirs' });

  await userEvent.click(row('b').getByRole('radio', { name: 'this branch' }));
  await press('Merge');
  const resolutions = [{ path: 'b', layer: '', field: '', take: 'ours' }];
  expect(sent).toHaveBeenLastCalledWith({ on_conflict: 'theirs', resolutions, expected_head: 'f'.repeat(64) });
  await press('this branch (main)');
  expect(row('b').getByRole<HTMLInputElement>('radio', { name: 'this branch' }).checked).toBe(true);
});

test('conflicts that are not shown follow the side for all, which the dialog says', async () => {
  await show({ data: found([conflict('a')], 1201) });
  await userEvent.click(row('a').getByRole('radio', { name: 'this branch' }));
  screen.getByText('1,200 more are not shown: they follow the side that you choose for all.');
  screen.getByText('1 of 1,201 settled');
  expect(isDisabled()).toBe(true);
  await press('the other side (fix)');
  screen.getByText('1,200 more are not shown and follow the side chosen for all: the other side (fix).');
  expect(isDisabled()).toBe(false);
});

test('what was settled between two versions is forgotten for others', async () => {
  await show({ data: found([conflict('a')]) });
  await userEvent.click(row('a').getByRole('radio', { name: 'this branch' }));
  expect(isDisabled()).toBe(false);
  await press('Another branch');
  await eventually(() => expect(isDisabled()).toBe(true));
});

test('conflicts are looked at anew when the branch has moved', async () => {
  const refetch = vi.fn();
  const moved = new ApiError({ status: 409, title: '', code: 'head_moved', detail: '', action: '' });
  await show({ data: found([conflict('a')]), onSend: () => Promise.reject(moved), refetch });
  await userEvent.click(row('a').getByRole('radio', { name: 'this branch' }));
  await press('Merge');
  await eventually(() => expect(refetch).toHaveBeenCalled());
});

test('a file that meets a folder is settled once for all that is in it, and says what it meets', async () => {
  const both = [conflict('x', { other_path: 'x/y' }), conflict('x', { other_path: 'x/z' })];
  await show({ data: found(both) });
  screen.getByText('changed: x/y');
  const [first] = screen.getAllByRole('radiogroup', { name: 'x' });
  await userEvent.click(within(first as HTMLElement).getByRole('radio', { name: 'the other side' }));
  screen.getByText('2 of 2 settled');
  const settling = { on_conflict: 'fail', sides: { '["x","",""]': 'theirs' } } as const;
  expect(resolutionsOf(settling, found(both))).toEqual([{ path: 'x', layer: '', field: '', take: 'theirs' }]);
});

test('a choice for what is no conflict any more counts for nothing', () => {
  const settling = { on_conflict: 'fail', sides: { '["gone","",""]': 'ours' } } as const;
  expect(countSettled(settling, found([conflict('a')]))).toBe(0);
  expect(resolutionsOf(settling, found([conflict('a')]))).toEqual([]);
});
