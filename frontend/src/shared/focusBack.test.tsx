import { Menu, Modal } from '@mantine/core';
import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, test, vi } from 'vitest';
import { renderPage } from '@/test/render';
import { Dialog as SharedDialog } from './Dialog';
import { useFocusBack } from './focusBack';

function Dialog({ onClose }: { onClose: () => void }) {
  useFocusBack();
  return <Modal opened onClose={onClose} title="New" />;
}

function Page() {
  const [opened, setOpened] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpened(true)}>
        Open
      </button>
      {opened && <Dialog onClose={() => setOpened(false)} />}
    </>
  );
}

test('after a dialog that is only rendered while open, the button that opened it has the focus again', async () => {
  await renderPage(<Page />, '/', '/');
  const button = screen.getByRole('button', { name: 'Open' });
  await userEvent.click(button);
  const dialog = await screen.findByRole('dialog');
  await vi.waitFor(() => expect(dialog.contains(document.activeElement)).toBe(true));
  await userEvent.keyboard('{Escape}');
  await vi.waitFor(() => expect(document.activeElement).toBe(button));
});

function PageWithMenu() {
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Menu>
        <Menu.Target>
          <button type="button">More</button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setOpened(true)}>Split</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <SharedDialog opened={opened} onClose={() => setOpened(false)} title="New" />
    </>
  );
}

test('after a dialog that an entry of a menu opened, the button of the menu has the focus', async () => {
  await renderPage(<PageWithMenu />, '/', '/');
  const button = screen.getByRole('button', { name: 'More' });
  for (const _ of ['at first', 'again']) {
    button.focus();
    await userEvent.keyboard('{Enter}');
    const entry = await screen.findByRole('menuitem', { name: 'Split' });
    entry.focus();
    await userEvent.keyboard('{Enter}');
    const dialog = await screen.findByRole('dialog');
    await vi.waitFor(() => expect(dialog.contains(document.activeElement)).toBe(true));
    await userEvent.keyboard('{Escape}');
    await vi.waitFor(() => expect(document.activeElement).toBe(button));
  }
});
