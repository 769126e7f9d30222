import { useEffect, useRef, useState } from 'react';
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

/**
 * The labeler's keys. A class key that is tapped labels the selection; while it is held, clicked images get that class
 * (`held`), and its release does nothing more.
 */
export function useKeyboard(options: KeyboardOptions) {
  const latest = useRef(options);
  latest.current = options;
  const [held, setHeld] = useState<Label | null>(null);
  const used = useRef(false);
  const { enabled } = options;
  useEffect(() => {
    if (!enabled) return;
    let down: Label | null = null;
    const release = () => {
      down = null;
      setHeld(null);
    };
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || event.isComposing) return;
      if (isField(event.target) || inDialog() || onControl(event)) return;
      const { labels, columns, onCommand } = latest.current;
      const label = labelOfKey(event, labels);
      if (label) {
        event.preventDefault();
        if (event.repeat) return;
        down = label;
        used.current = false;
        setHeld(label);
        return;
      }
      const command = commandOf(event, columns);
      if (!command) return;
      event.preventDefault();
      if (event.repeat && (command.do === 'submit' || command.do === 'back' || command.do === 'skip')) return;
      onCommand(command);
    };
    const onKeyUp = (event: KeyboardEvent) => {
      const label = down;
      if (!label || label.hotkey.toLowerCase() !== event.key.toLowerCase()) return;
      release();
      if (!used.current) latest.current.onLabel(label);
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
