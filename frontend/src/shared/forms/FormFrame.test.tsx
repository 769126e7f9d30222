import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { ApiError } from '@/api/errors';
import { renderPage } from '@/test/render';
import { FormFrame } from './FormFrame';

const taken = new ApiError({ status: 409, code: 'name_taken', title: 'There is a dataset digits already.' });
const beside = new ApiError({
  status: 400,
  code: 'invalid',
  title: 'Some values are wrong.',
  fields: { name: 'Too long.', owner: 'Nobody is called so.' },
});

function NameForm({ refusal, mode }: { refusal: ApiError; mode: 'controlled' | 'uncontrolled' }) {
  const form = useForm({
    mode,
    initialValues: { name: 'digits' },
    validate: { name: (name) => (name.length > 8 ? 'Eight letters at most.' : null) },
  });
  return (
    <FormFrame form={form} send={() => Promise.reject(refusal)} submit="Create" onCancel={() => {}}>
      <TextInput label="Name" key={form.key('name')} {...form.getInputProps('name')} />
    </FormFrame>
  );
}

test.each(['controlled', 'uncontrolled'] as const)('what was refused goes with the next input (%s)', async (mode) => {
  await renderPage(<NameForm refusal={taken} mode={mode} />);
  await userEvent.click(screen.getByRole('button', { name: 'Create' }));
  await screen.findByText('There is a dataset digits already.');
  await userEvent.type(screen.getByLabelText('Name'), 'xxxx');
  expect(screen.queryByRole('alert')).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Create' }));
  await screen.findByText('Eight letters at most.');
  expect(screen.queryByRole('alert')).toBeNull();
});

test('a wrong field that the form does not have is told with the error, one that it has at its input', async () => {
  await renderPage(<NameForm refusal={beside} mode="controlled" />);
  await userEvent.click(screen.getByRole('button', { name: 'Create' }));
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain('Nobody is called so.');
  expect(alert.textContent).not.toContain('Too long.');
  screen.getByText('Too long.');
});
