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
      const atClose = document.activeElement;
      setTimeout(() => {
        const active = document.activeElement;
        // Whoever moved the focus meanwhile goes first.
        const isLeft = active === null || active === document.body || active === atClose;
        if (isLeft) target?.focus({ preventScroll: true });
      }, AFTER_MANTINE_MS);
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

const isOff = (control: HTMLElement) => !control.isConnected || control.matches(':disabled');

/**
 * The control that is drawn in its place (both marked `data-focus-as`), else the one that the page marks, else the page
 * itself.
 */
function successorOf(control: HTMLElement, area: HTMLElement): HTMLElement {
  const name = control.dataset.focusAs;
  const same = name ? area.querySelector<HTMLElement>(`[data-focus-as="${name}"]:not(:disabled)`) : null;
  return same ?? area.querySelector<HTMLElement>('[data-first-action]:not(:disabled)') ?? area;
}

/**
 * Keeps the focus inside `area` while its controls work. One that is disabled while it waits for the server has the
 * focus again when it is not; when one goes away, its successor has it. Whoever moves the focus on purpose goes first.
 */
export function keepFocus(area: HTMLElement): () => void {
  let last: HTMLElement | null = null;
  let isLost = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const forget = () => {
    last = null;
    isLost = false;
  };
  const mend = () => {
    const active = document.activeElement;
    const control = last;
    if (!control || (active && active !== document.body && active !== control)) return;
    if (control.isConnected && control.matches(':disabled[data-loading]')) return;
    const target = isOff(control) ? successorOf(control, area) : control;
    forget();
    target.focus({ preventScroll: true });
  };
  const check = () => {
    if (!last) return;
    isLost ||= isOff(last);
    if (!isLost) return;
    clearTimeout(timer);
    timer = setTimeout(mend, AFTER_MANTINE_MS);
  };
  const onFocus = ({ target }: FocusEvent) => {
    if (!(target instanceof HTMLElement) || target === last) return;
    // A dialog comes and goes above the control that opened it.
    if (target.closest('[role="dialog"]')) return;
    forget();
    if (area.contains(target) && target !== area) last = target;
  };
  const onBlur = ({ target, relatedTarget }: FocusEvent) => {
    if (relatedTarget || target !== last || !(target instanceof HTMLElement)) return;
    // Somebody clicked beside it; a control that goes away or is disabled may say the same.
    setTimeout(() => {
      if (target === last && !isLost && !isOff(target) && document.activeElement === document.body) forget();
    });
  };
  const observer = new MutationObserver(check);
  observer.observe(area, { subtree: true, childList: true, attributes: true, attributeFilter: ['disabled'] });
  document.addEventListener('focusin', onFocus);
  document.addEventListener('focusout', onBlur);
  return () => {
    clearTimeout(timer);
    observer.disconnect();
    document.removeEventListener('focusin', onFocus);
    document.removeEventListener('focusout', onBlur);
  };
}
