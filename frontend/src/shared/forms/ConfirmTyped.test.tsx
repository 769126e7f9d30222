import { MantineProvider } from '@mantine/core';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, test, vi } from 'vitest';
import { ConfirmTyped } from './ConfirmTyped';

function Asking({ onConfirm }: { onConfirm: () => void }) {
  const [asking, setAsking] = useState(false);
  // As pages do: what is confirmed closes the dialog by itself.
  const confirm = () => {
    onConfirm();
    setAsking(false);
  };
  return (
    <MantineProvider env="test">
      <button type="button" onClick={() => setAsking(true)}>
        Ask
      </button>
      <ConfirmTyped
        opened={asking}
        onClose={() => setAsking(false)}
        onConfirm={confirm}
        title="Delete"
        word="vision"
        confirmLabel="Delete it"
      >
        For good.
      </ConfirmTyped>
    </MantineProvider>
  );
}

test('the word is asked for each time, whoever closed the dialog', async () => {
  const onConfirm = vi.fn();
  render(<Asking onConfirm={onConfirm} />);
  for (let times = 1; times <= 2; times++) {
    await userEvent.click(screen.getByRole('button', { name: 'Ask' }));
    const word = await screen.findByRole<HTMLInputElement>('textbox');
    expect(word.value).toBe('');
    await userEvent.type(word, '{Enter}');
    expect(onConfirm).toHaveBeenCalledTimes(times - 1);
    await userEvent.type(word, 'vision{Enter}');
    expect(onConfirm).toHaveBeenCalledTimes(times);
  }
});
