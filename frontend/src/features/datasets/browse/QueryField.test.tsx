import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ApiError } from '@/api/errors';
import { setLanguage } from '@/i18n';
import { expectNoViolations } from '@/test/axe';
import { renderPage } from '@/test/render';
import { QueryField } from './QueryField';

const field = () => screen.getByRole('combobox', { name: 'Query' });

test('a query counts on Enter, not on every key', async () => {
  const onChange = vi.fn();
  await renderPage(<QueryField value={undefined} onChange={onChange} />);
  await userEvent.type(field(), "  label = 'cat' ");
  expect(onChange).not.toHaveBeenCalled();
  await userEvent.keyboard('{Enter}');
  expect(onChange).toHaveBeenCalledExactlyOnceWith("label = 'cat'");
});

test('Escape brings back the query that is in force', async () => {
  const onChange = vi.fn();
  await renderPage(<QueryField value="size > 1" onChange={onChange} />);
  await userEvent.type(field(), ' AND{Escape}');
  expect(field()).toHaveProperty('value', 'size > 1');
  await userEvent.click(screen.getByRole('button', { name: 'Clear the query' }));
  expect(onChange).toHaveBeenCalledExactlyOnceWith(undefined);
});

test('what is wrong is said in the language of the page', async () => {
  await setLanguage('zh');
  onTestFinished(() => setLanguage('en'));
  const place = { code: 'query.at_character', params: { position: 3, problem: { code: 'query.empty', params: {} } } };
  const fields = { where: 'Character 3: it is empty.' };
  const wrong = { status: 400, code: 'query_invalid', title: '', fields, fieldCodes: { where: [place] } };
  await renderPage(<QueryField value="x" onChange={vi.fn()} error={new ApiError(wrong)} />);
  screen.getByText('第 3 个字符：内容为空。');
});

test('what is wrong is said under the field, and other failures are not', async () => {
  const wrong = new ApiError({
    status: 400,
    code: 'query_invalid',
    title: 'The query is not valid.',
    fields: { where: 'Character 3: it is empty.' },
  });
  const { container, unmount } = await renderPage(<QueryField value="x" onChange={vi.fn()} error={wrong} />);
  screen.getByText('Character 3: it is empty.');
  expect(field().getAttribute('aria-invalid')).toBe('true');
  await expectNoViolations(container);
  unmount();
  const other = new ApiError({ status: 500, code: 'error', title: 'Oops' });
  await renderPage(<QueryField value="x" onChange={vi.fn()} error={other} />);
  expect(field().getAttribute('aria-invalid')).not.toBe('true');
});

test('the grammar opens beside the field', async () => {
  const { baseElement } = await renderPage(<QueryField value={undefined} onChange={vi.fn()} />);
  await userEvent.click(screen.getByRole('button', { name: 'How to write a query' }));
  await screen.findByText('The last part of the path');
  await expectNoViolations(baseElement as HTMLElement);
});

const known = { labels: ['cat'], splits: [], mediaTypes: [], classes: ['car', 'cart', 'bus'] };

test('columns and classes of objects are offered, and the arrows and Enter take one', async () => {
  const onChange = vi.fn();
  const { baseElement } = await renderPage(<QueryField value={undefined} onChange={onChange} known={known} />);
  await userEvent.type(field(), 'objects.lab');
  await screen.findByRole('option', { name: 'objects.label' });
  await expectNoViolations(baseElement as HTMLElement);
  await userEvent.keyboard('{ArrowDown}{Enter}');
  expect(field()).toHaveProperty('value', 'objects.label');
  await userEvent.type(field(), ' = ca');
  expect(screen.getAllByRole('option').map((option) => option.textContent)).toEqual(["'car'", "'cart'"]);
  await userEvent.keyboard('{ArrowDown}{ArrowDown}{Tab}');
  expect(field()).toHaveProperty('value', "objects.label = 'cart'");
  expect(onChange).not.toHaveBeenCalled();
  await userEvent.keyboard('{Enter}');
  expect(onChange).toHaveBeenCalledExactlyOnceWith("objects.label = 'cart'");
});

test('Enter sends what is written while nothing of the list is chosen, and Escape closes the list first', async () => {
  const onChange = vi.fn();
  await renderPage(<QueryField value={undefined} onChange={onChange} known={known} />);
  await userEvent.type(field(), 'objects.counts.c');
  await screen.findByRole('option', { name: 'objects.counts.car' });
  await userEvent.keyboard('{Escape}');
  expect(screen.queryByRole('option')).toBeNull();
  expect(field()).toHaveProperty('value', 'objects.counts.c');
  await userEvent.keyboard('ar > 1{Enter}');
  expect(onChange).toHaveBeenCalledExactlyOnceWith('objects.counts.car > 1');
});
