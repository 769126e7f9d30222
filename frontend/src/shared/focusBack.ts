import { useEffect, useState } from 'react';

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
