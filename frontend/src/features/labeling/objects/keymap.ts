/** The workspace's commands with the keys that they have at first. */
export const DEFAULT_KEYS = {
  submit: 'Enter',
  back: 'Shift+Enter',
  skip: 'S',
  undo: 'mod+Z',
  redo: 'mod+Y',
  delete: 'Delete',
  nextObject: 'Tab',
  previousObject: 'Shift+Tab',
  selectAll: 'mod+A',
  copy: 'mod+C',
  paste: 'mod+V',
  duplicate: 'mod+D',
  propagate: 'G',
  hide: 'H',
  showAll: 'Shift+H',
  lock: 'L',
  ignore: 'I',
  forward: 'PageUp',
  backward: 'PageDown',
  fit: '0',
  zoomIn: '+',
  zoomOut: '-',
  turn: 'Shift+R',
  issues: '/',
  repeat: 'N',
  select: 'V',
  box: 'B',
  'extreme-box': 'Shift+B',
  'rotated-box': 'R',
  polygon: 'P',
  hole: 'O',
  split: 'U',
  polyline: 'E',
  point: 'T',
  keypoints: 'K',
  brush: 'M',
  eraser: 'X',
  relation: 'C',
  ruler: 'D',
  window: 'W',
} as const;

export type CommandName = keyof typeof DEFAULT_KEYS;
export type Keymap = Readonly<Record<CommandName, string>>;

export const COMMANDS = Object.keys(DEFAULT_KEYS) as CommandName[];
/** Other keys that mean the same and stay. */
const ALSO: Readonly<Record<string, CommandName>> = { 'mod+Shift+Z': 'redo', Backspace: 'delete', '=': 'zoomIn' };

export interface Press {
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
}

/** `mod+Z`, `Shift+Enter`, `S`: a press as keymaps name it. A sign that Shift makes has its own name. */
export function nameOfPress({ key, shiftKey, ctrlKey, metaKey }: Press): string {
  const isLetter = /^\p{L}$/u.test(key);
  const name = key === ' ' ? 'Space' : isLetter ? key.toUpperCase() : key;
  const shift = shiftKey && (isLetter || key.length > 1 || key === ' ');
  return `${ctrlKey || metaKey ? 'mod+' : ''}${shift ? 'Shift+' : ''}${name}`;
}

export function commandOfPress(press: Press, keymap: Keymap): CommandName | null {
  const name = nameOfPress(press);
  return COMMANDS.find((command) => keymap[command] === name) ?? ALSO[name] ?? null;
}

/** The keymap with a person's own keys; what is not known any more is passed over. */
export function keymapOf(stored: string): Keymap {
  let own: Record<string, unknown> = {};
  try {
    own = JSON.parse(stored || '{}') as Record<string, unknown>;
  } catch {
    // Unreadable: the keys are as they were at first.
  }
  const entries = COMMANDS.map((command) => {
    const key = own?.[command];
    return [command, typeof key === 'string' && key !== '' ? key : DEFAULT_KEYS[command]];
  });
  return Object.fromEntries(entries) as Keymap;
}

/** Only the keys that differ from the first ones. */
export function storedKeymap(keymap: Keymap): string {
  const own = COMMANDS.filter((command) => keymap[command] !== DEFAULT_KEYS[command]);
  return own.length === 0 ? '' : JSON.stringify(Object.fromEntries(own.map((command) => [command, keymap[command]])));
}

/** Keys that browsers keep for windows, tabs, the address and reloading: a page never gets them, or must not. */
const OF_BROWSER: ReadonlySet<string> = new Set([
  ...['W', 'T', 'N', 'R', 'L', 'Q', 'Tab', 'PageUp', 'PageDown'].map((key) => `mod+${key}`),
  ...['W', 'T', 'N', 'R', 'I', 'J', 'Q', 'Tab'].map((key) => `mod+Shift+${key}`),
  ...Array.from({ length: 10 }, (_, digit) => `mod+${digit}`),
  ...['F1', 'F3', 'F5', 'F6', 'F7', 'F11', 'F12'],
]);

export const isOfBrowser = (key: string): boolean => OF_BROWSER.has(key);

/** A key as people read it. */
export const shownKey = (key: string): string =>
  key.replace('mod+', /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl+');

/** The command or class that has a key already; null where the key is free for `command`. */
export function holderOfKey(
  key: string,
  command: CommandName,
  keymap: Keymap,
  labels: readonly { name: string; hotkey?: string }[],
): { command: CommandName } | { label: string } | null {
  const other = COMMANDS.find((one) => one !== command && keymap[one] === key);
  if (other) return { command: other };
  const label = labels.find(({ hotkey }) => hotkey && hotkey.toUpperCase() === key.toUpperCase());
  return label ? { label: label.name } : null;
}

/** A key that a command had at first and has no more: it means nothing, also where the canvas knows it. */
export const isFreed = (name: string, keymap: Keymap): boolean =>
  COMMANDS.some((command) => DEFAULT_KEYS[command] === name && keymap[command] !== name);
