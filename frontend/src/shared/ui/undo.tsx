import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { type ApiError, asApiError } from '@/api/errors';
import i18n from '@/i18n';
import { fieldWords, translatedProblem } from '../domain/problemWords';
import { pending, underWay, type Waiting } from './pending';

export interface UndoableAction {
  /** The change after the toast goes away: "Token ci is revoked in a few seconds". */
  message: string;
  /** Makes it so; called when the time to undo is over, or when the page is left. */
  commit: () => unknown;
  /** Brings the optimistic change back. */
  rollback: () => void;
  /** Names what is changed, where it may be set anew meanwhile: see `flushPending`. */
  about?: string;
  delayMs?: number;
}

/** The cross of a toast has no text: this is its name, in the language of the moment. */
const closeable = () => ({ closeButtonProps: { 'aria-label': i18n.t('common.close') } });

/** Undo rather than confirm: shows a toast with an Undo button, and commits when it goes away. */
export function confirmUndo({ message, commit, rollback, about, delayMs = 6000 }: UndoableAction): void {
  const id = `undo-${Math.random().toString(36).slice(2)}`;
  let settled = false;
  const settle = (act: () => unknown) => {
    if (settled) return;
    settled = true;
    pending.delete(waiting);
    clearTimeout(timer);
    notifications.hide(id);
    const done: Promise<void> = Promise.resolve()
      .then(act)
      .then(
        () => undefined,
        (error: unknown) => {
          rollback();
          notifyError(error);
        },
      )
      .finally(() => underWay.delete(done));
    underWay.set(done, about);
  };
  const flush = () => settle(commit);
  const timer = setTimeout(flush, delayMs);
  const waiting: Waiting = { about, flush };
  pending.add(waiting);
  let cameFrom: EventTarget | null = null;
  const undo = () => {
    const target = cameFrom instanceof HTMLElement && cameFrom.isConnected ? cameFrom : document.querySelector('main');
    target?.focus({ preventScroll: true });
    settle(rollback);
  };
  const body = (
    <Group justify="space-between" wrap="nowrap">
      <Text size="sm" miw={0} style={{ overflowWrap: 'anywhere' }}>
        {message}
      </Text>
      <Button
        size="compact-sm"
        variant="light"
        flex="none"
        onFocus={(event) => {
          cameFrom = event.relatedTarget;
        }}
        onClick={undo}
      >
        {i18n.t('common.undo')}
      </Button>
    </Group>
  );
  notifications.show({ id, message: body, autoClose: false, withCloseButton: true, onClose: flush, ...closeable() });
}

export function notifySuccess(message: string): void {
  notifications.show({ color: 'teal', message, ...closeable() });
}

/** Something happened that is nobody's mistake, and that the person should know. */
export function notifyWarning(message: string): void {
  notifications.show({ color: 'orange', message, autoClose: 8000, ...closeable() });
}

function titleOf(error: ApiError): string {
  if (error.code === 'unreachable') return i18n.t('errors.unreachable');
  return error.isTemporary ? i18n.t('errors.unavailable') : error.title || error.detail || i18n.t('errors.title');
}

export function notifyError(thrown: unknown): void {
  const error = asApiError(thrown);
  const translated = error.isTemporary ? undefined : translatedProblem(error);
  const title = translated?.title ?? titleOf(error);
  // The browser's own words for a request without an answer are English.
  const isAway = error.code === 'unreachable';
  const { detail, action } = isAway ? { detail: '', action: i18n.t('errors.unreachableHint') } : (translated ?? error);
  const wrong = Object.entries(fieldWords(error)).map(([name, words]) => `${name}: ${words}`);
  const said = [detail === title ? '' : detail, ...wrong, action].filter(Boolean).join(' ');
  const words = error.isTemporary ? i18n.t('errors.unavailableHint') : said;
  notifications.show({ color: 'red', title, message: words || error.code, autoClose: 8000, ...closeable() });
}
