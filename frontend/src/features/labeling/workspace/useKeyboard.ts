import { useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { Label } from '@/api/contract/labeling';
import { type Command, commandOf, labelOfKey } from './keys';

const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement && target.matches('input,textarea,select,[contenteditable=true]');
const inDialog = () => document.querySelector('[role=dialog][aria-modal=true]') !== null;
/** Enter and Space on a button press that button. */
const onControl = (event: KeyboardEvent) =>
  (event.key === 'Enter' || event.key === ' ') &&
  event.target instanceof HTMLElement &&
  event.target.closest('button,a,[role=combobox]') !== null;

export interface KeyboardOptions {
  labels: readonly Label[];
  columns: number;
  onCommand: (command: Command) => void;
  /** A class key was tapped: it goes to the selection. */
  onLabel: (label: Label) => void;
  enabled: boolean;
}

/** Where the keyboard names its keys by place, a key is the same although Shift has changed what it writes. */
const isSameKey = (one: KeyboardEvent, other: KeyboardEvent) =>
  one.code ? one.code === other.code : one.key.toLowerCase() === other.key.toLowerCase();

/**
 * The labeler's keys. A class key that is tapped labels the selection; while it is held, clicked images get that class
 * (`held`), and its release does nothing more. Fast hands press the next key before they let go of the last one: it
 * counts then, before the next one does.
 */
export function useKeyboard(options: KeyboardOptions) {
  const latest = useRef(options);
  latest.current = options;
  const [held, setHeld] = useState<Label | null>(null);
  const used = useRef(false);
  const { enabled } = options;
  useEffect(() => {
    if (!enabled) return;
    let down: { label: Label; press: KeyboardEvent } | null = null;
    const release = () => {
      down = null;
      setHeld(null);
    };
    const tap = () => {
      const label = down?.label;
      release();
      if (label && !used.current) latest.current.onLabel(label);
    };
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || event.isComposing) return;
      if (isField(event.target) || inDialog() || onControl(event)) return;
      const { labels, columns } = latest.current;
      const label = labelOfKey(event, labels);
      if (label) {
        event.preventDefault();
        if (event.repeat) return;
        tap();
        down = { label, press: event };
        used.current = false;
        setHeld(label);
        return;
      }
      const command = commandOf(event, columns);
      if (!command) return;
      event.preventDefault();
      if (event.repeat && (command.do === 'submit' || command.do === 'back' || command.do === 'skip')) return;
      // Drawn before the command reads what is on the screen.
      flushSync(tap);
      latest.current.onCommand(command);
    };
    const onKeyUp = (event: KeyboardEvent) => {
      if (down && isSameKey(down.press, event)) tap();
    };
    window.addEventListener('keydown', onKeyDown, { capture: true });
    window.addEventListener('keyup', onKeyUp);
    window.addEventListener('blur', release);
    return () => {
      window.removeEventListener('keydown', onKeyDown, { capture: true });
      window.removeEventListener('keyup', onKeyUp);
      window.removeEventListener('blur', release);
    };
  }, [enabled]);
  const takeHeld = (): Label | null => {
    used.current = true;
    return held;
  };
  return { held, takeHeld };
}
