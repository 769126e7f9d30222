import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, test } from 'vitest';
import { renderPage } from '@/test/render';
import { AttributeFields } from './AttributeFields';
import type { Attributes } from './types';

const seats = { id: 1, name: 'seats', kind: 'number', min: 0, max: 10, step: 0.5 } as const;

function Fields() {
  const [values, setValues] = useState<Attributes>({});
  return (
    <AttributeFields
      attributes={[seats]}
      values={values}
      showMissing={false}
      disabled={false}
      onChange={(id, value) => setValues(value === undefined ? {} : { [id]: value })}
    />
  );
}

test.each(['11', '2.3'])('%s stays as it was typed, and is marked with the allowed range', async (typed) => {
  await renderPage(<Fields />, '/', '/');
  const field = await screen.findByRole('textbox', { name: 'seats' });
  await userEvent.type(field, typed);
  await userEvent.tab();
  expect(field).toHaveProperty('value', typed);
  screen.getByText('Allowed: 0 to 10, steps of 0.5.');
  await userEvent.clear(field);
  await userEvent.type(field, '2.5');
  expect(screen.queryByText(/^Allowed/)).toBeNull();
});
