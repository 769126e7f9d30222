import { Menu, Modal } from '@mantine/core';
import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '@/test/eventually';
import { renderPage } from '@/test/render';
import { Dialog as SharedDialog } from './Dialog';
import { keepFocus, useFocusBack } from './focusBack';

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
  await eventually(() => expect(dialog.contains(document.activeElement)).toBe(true));
  await userEvent.keyboard('{Escape}');
  await eventually(() => expect(document.activeElement).toBe(button));
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
    await eventually(() => expect(dialog.contains(document.activeElement)).toBe(true));
    await userEvent.keyboard('{Escape}');
    await eventually(() => expect(document.activeElement).toBe(button));
  }
});

function area(html: string) {
  const main = document.body.appendChild(document.createElement('main'));
  main.tabIndex = -1;
  main.innerHTML = html;
  const stop = keepFocus(main);
  onTestFinished(() => {
    stop();
    main.remove();
  });
  const at = (id: string) => document.getElementById(id) as HTMLButtonElement;
  return { main, at, hasFocus: (element: Element) => eventually(() => expect(document.activeElement).toBe(element)) };
}
/** As browsers do with a focused control that is disabled; the environment leaves it the focus. */
function disable(button: HTMLButtonElement) {
  button.blur();
  button.disabled = true;
}

test('a button that is disabled while it works has the focus again', async () => {
  const { at, hasFocus } = area('<button id="a">Save</button><button id="b" data-first-action>Other</button>');
  at('a').focus();
  at('a').dataset.loading = 'true';
  disable(at('a'));
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(document.activeElement).toBe(document.body);
  delete at('a').dataset.loading;
  at('a').disabled = false;
  await hasFocus(at('a'));
});

test('what takes the place of a button takes its focus', async () => {
  const { main, at, hasFocus } = area('<button id="a" data-focus-as="next">Start</button><a href="/x">Else</a>');
  at('a').focus();
  main.innerHTML = '<a href="/x">Else</a><button id="b" data-focus-as="next">Label</button>';
  await hasFocus(at('b'));
});

test('without one the page’s first action has it, else the page', async () => {
  const { main, at, hasFocus } = area('<button id="a">Retry</button><button id="b" data-first-action>Clone</button>');
  at('a').focus();
  at('a').remove();
  await hasFocus(at('b'));
  at('b').remove();
  await hasFocus(main);
});

test('a focus that somebody moved on purpose stays where it is, and so does one that was given up', async () => {
  const { main, at } = area('<button id="a">Go</button><input id="b">');
  at('a').focus();
  at('a').remove();
  at('b').focus();
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(document.activeElement).toBe(at('b'));
  at('b').blur();
  await new Promise((resolve) => setTimeout(resolve, 10));
  main.innerHTML = '';
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(document.activeElement).toBe(document.body);
});
