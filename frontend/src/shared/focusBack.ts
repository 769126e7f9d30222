import { useEffect, useRef, useState } from 'react';

// Mantine gives the focus back after 10 ms.
const AFTER_MANTINE_MS = 20;

/**
 * When the dialog that calls it goes, what had the focus before has it again. Mantine does so for dialogs that stay
 * mounted while they are closed; one that is only rendered while it is open would leave the focus nowhere.
 */
export function useFocusBack(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      const isLost = document.activeElement === null || document.activeElement === document.body;
      if (isLost && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    },
    [before],
  );
}

/**
 * A dialog that an entry of a menu opened gives the focus back to the button of that menu: the entry, to which Mantine
 * would return it, is gone.
 */
export function useFocusBackToMenu(opened: boolean): void {
  const button = useRef<HTMLElement | null>(null);
  const [was, setWas] = useState(false);
  if (opened !== was) {
    setWas(opened);
    // Before the menu is taken away: as soon as it is, nobody knows any more which one it was.
    if (opened) button.current = buttonOfMenu(document.activeElement);
  }
  useEffect(() => {
    if (!opened) return;
    return () => {
      const target = button.current;
      if (target) setTimeout(() => target.focus({ preventScroll: true }), AFTER_MANTINE_MS);
    };
  }, [opened]);
}

function buttonOfMenu(entry: Element | null): HTMLElement | null {
  const menu = entry?.closest('[role="menu"]');
  return menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : null;
}

/**
 * Call it when the button, marked `data-takes-row`, is about to take its row away: the focus goes to the same button of
 * the next row, or of the one before it; where there is none, to what the page marks as `data-first-action`, or to the
 * page itself.
 */
export function focusNeighbour(button: HTMLElement): void {
  const rows = button.closest('table, section') ?? document;
  const buttons = [...rows.querySelectorAll<HTMLElement>('[data-takes-row]')];
  const at = buttons.indexOf(button);
  const neighbour = buttons[at + 1] ?? buttons[at - 1];
  const target =
    neighbour ?? document.querySelector<HTMLElement>('[data-first-action]') ?? document.querySelector('main');
  target?.focus({ preventScroll: neighbour === undefined });
}
