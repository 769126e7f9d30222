/** One thing that the page shown can do: a button, a tab, a switch, an entry of a menu, a field to type in. */
export interface PageAction {
  label: string;
  /** Its place: the heading of its part of the page. */
  place: string;
  /** In a row of a list: offered only to those who type its name. */
  inRow: boolean;
  run: () => void;
}

const CONTROLS = [
  'button',
  'a.mantine-Button-root',
  'a.mantine-ActionIcon-root',
  '[role=tab]',
  '[role=switch]',
  'input:not([type=hidden]):not([type=file])',
  'textarea',
].join(',');
const ROWS = 'tbody tr,[role=row],[role=listitem],[role=gridcell],[role=option],li';
const PICKED = 'checkbox,radio,button,submit'.split(',');
const MOST = 400;

const textOf = (element: Element | null | undefined) => (element?.textContent ?? '').replace(/\s+/g, ' ').trim();

function nameOf(control: HTMLElement): string {
  const said = control.getAttribute('aria-label')?.trim();
  if (said) return said;
  const by = control.getAttribute('aria-labelledby')?.split(' ') ?? [];
  const named = by.map((id) => textOf(document.getElementById(id))).join(' ');
  if (named) return named;
  // A column says what to sort by in its title.
  if (control.closest('thead')) return control.title || textOf(control);
  if (control instanceof HTMLInputElement || control instanceof HTMLTextAreaElement)
    return textOf(control.labels?.[0]) || control.placeholder;
  return textOf(control) || control.title;
}

const isDisabled = (control: HTMLElement) =>
  control.matches(':disabled,[aria-disabled=true],[data-disabled],[data-loading]');

function isShown(control: HTMLElement): boolean {
  if (control.closest('[aria-hidden=true],[inert]')) return false;
  // happy-dom knows no boxes.
  return typeof control.checkVisibility !== 'function' || control.checkVisibility();
}

function isTyped(control: HTMLElement): boolean {
  if (control instanceof HTMLTextAreaElement) return true;
  return control instanceof HTMLInputElement && !PICKED.includes(control.type);
}

/** Presses it, as a person would: a field takes the focus, anything else is clicked. */
function press(control: HTMLElement, opener: HTMLElement = control): () => void {
  return () => {
    // After the palette has gone and given the focus back, or a dialog opened here would lose it.
    setTimeout(() => {
      opener.focus();
      if (!isTyped(control) || control.getAttribute('aria-haspopup')) control.click();
    });
  };
}

function headingOf(control: HTMLElement, main: Element): string {
  for (let at: Element | null = control; at && at !== main; at = at.parentElement) {
    const label = at.matches('section,[role=group],[role=region],[role=radiogroup],[role=tablist]')
      ? at.getAttribute('aria-label')
      : null;
    if (label) return label;
  }
  return textOf(main.querySelector('h1,h2'));
}

/** The entries of menus that are kept beside the page while they are closed. */
function entriesOf(button: HTMLElement): HTMLElement[] {
  const menu = button.id ? document.querySelector(`[role=menu][aria-labelledby="${CSS.escape(button.id)}"]`) : null;
  return menu ? [...menu.querySelectorAll<HTMLElement>('[role=menuitem]')] : [];
}

/** Where somebody stands: the dialog that is open, or else the page. */
function place(): Element | null {
  return [...document.querySelectorAll('[role=dialog][aria-modal=true]')].at(-1) ?? document.querySelector('main');
}

/** Everything that can be done where one stands, in the order of the page; what is not offered there is not here. */
export function pageActions(): PageAction[] {
  const main = place();
  if (!main) return [];
  const found: PageAction[] = [];
  const known = new Set<string>();
  const add = (label: string, control: HTMLElement, opener?: HTMLElement) => {
    const inRow = control.closest(ROWS) !== null;
    const place = headingOf(opener ?? control, main);
    const key = `${label}\u0000${inRow ? place : ''}`;
    if (!label || known.has(key) || found.length >= MOST) return;
    known.add(key);
    found.push({ label, place, inRow, run: press(control, opener) });
  };
  for (const control of main.querySelectorAll<HTMLElement>(CONTROLS)) {
    if (isDisabled(control) || !isShown(control)) continue;
    const entries = entriesOf(control);
    for (const entry of entries) if (!isDisabled(entry)) add(textOf(entry), entry, control);
    if (entries.length === 0) add(nameOf(control), control);
  }
  return found;
}
