import { useEffect, useRef } from 'react';
import type { CanvasController } from '../canvas/controller';
import { runOnCanvas } from './commands';
import { type CommandName, commandOfPress, isFreed, type Keymap, nameOfPress } from './keymap';
import type { OntologyLabel } from './types';

const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type=checkbox]):not([type=radio]),textarea,select'));
const inDialog = () => document.querySelector('[role=dialog][aria-modal=true]') !== null;
/** These keys work the control that has the focus. */
const worksControl = ({ target, key }: KeyboardEvent) =>
  target instanceof HTMLElement &&
  target.closest('a,button,[role=combobox],[role=slider],[role=switch],[role=menuitem]') !== null &&
  ['Enter', ' ', 'Tab', 'Escape', 'PageUp', 'PageDown', 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight'].includes(
    key,
  );
/** Held keys repeat only these. */
const REPEATED = new Set<CommandName>(['undo', 'redo', 'nextObject', 'previousObject', 'zoomIn', 'zoomOut']);

export interface ObjectKeysOptions {
  /** False while the picture is only looked at. */
  enabled?: boolean;
  controller: CanvasController | null;
  keymap: Keymap;
  labels: readonly OntologyLabel[];
  /** The element of the canvas: Tab goes from object to object only there. */
  stage: () => HTMLElement | null;
  /** A command of the page. */
  onCommand: (command: CommandName) => void;
  onLabel: (label: OntologyLabel) => void;
  /** The canvas has done something. */
  onCanvas: () => void;
}

const labelOfKey = ({ key }: KeyboardEvent, labels: readonly OntologyLabel[]) =>
  labels.find(({ hotkey }) => hotkey && hotkey.toLowerCase() === key.toLowerCase());

/** Whether the key meant something: first to the tool that is drawing, then to a label, to the page and to the canvas. */
function handle(event: KeyboardEvent, options: ObjectKeysOptions): boolean {
  const { controller, keymap, labels, onCommand, onLabel, onCanvas } = options;
  const withControl = event.ctrlKey || event.metaKey;
  if (!withControl && controller?.session.tool.key(event)) {
    onCanvas();
    return true;
  }
  const label = withControl ? undefined : labelOfKey(event, labels);
  if (label) {
    if (!event.repeat) onLabel(label);
    return true;
  }
  const command = commandOfPress(event, keymap);
  if (command) {
    if (event.repeat && !REPEATED.has(command)) return true;
    const done = controller ? runOnCanvas(controller, command) : null;
    if (done === null) onCommand(command);
    else onCanvas();
    return done ?? true;
  }
  // A key that was given away means nothing, also where the canvas knows it.
  if (isFreed(nameOfPress(event), keymap)) return true;
  const isDone = controller?.key(event) ?? false;
  if (isDone) onCanvas();
  return isDone;
}

/** The labeler's keys, before the canvas and the rest of the page see them. */
export function useObjectKeys(options: ObjectKeysOptions): void {
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (latest.current.enabled === false || event.defaultPrevented || event.altKey || event.isComposing) return;
      if (isField(event.target) || inDialog() || worksControl(event)) return;
      const inStage = latest.current.stage()?.contains(event.target as Node) ?? false;
      // The space bar moves the picture while it is held; elsewhere Tab goes on in the page.
      if (event.key === ' ' || (event.key === 'Tab' && !inStage)) return;
      if (!handle(event, latest.current)) return;
      event.preventDefault();
      event.stopPropagation();
    };
    window.addEventListener('keydown', onKeyDown, { capture: true });
    return () => window.removeEventListener('keydown', onKeyDown, { capture: true });
  }, []);
}
