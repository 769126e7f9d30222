import { Button, Group, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { notifyError, notifySuccess } from '@/shared/ui/undo';

/** The next link that could be ended, or the list itself: the button goes away with its row. */
function focusNext(button: HTMLElement): void {
  const list = button.closest<HTMLElement>('[data-shares]');
  const row = button.closest('[data-share]');
  const others = [...(list?.querySelectorAll<HTMLElement>('[data-end-share]') ?? [])];
  (others.find((other) => !row?.contains(other)) ?? list)?.focus({ preventScroll: true });
}

/**
 * Ends a link at once, after it was asked whether it should be: who takes a link back wants it to be dead now, not when a
 * time to undo is over.
 */
export function EndShare({ name, onEnd }: { name: string; onEnd: () => Promise<unknown> }) {
  const { t } = useTranslation();
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const sure = useRef<HTMLButtonElement>(null);
  const wasAsking = useRef(false);
  useEffect(() => {
    if (asking) sure.current?.focus();
    else if (wasAsking.current) button.current?.focus();
    wasAsking.current = asking;
  }, [asking]);
  const end = async (pressed: HTMLElement) => {
    setBusy(true);
    focusNext(pressed);
    try {
      await onEnd();
      notifySuccess(t('sharing.ended'));
    } catch (error) {
      notifyError(error);
      setBusy(false);
      setAsking(false);
    }
  };
  if (!asking)
    return (
      <Button
        ref={button}
        size="compact-xs"
        variant="light"
        color="red"
        flex="none"
        data-end-share
        aria-label={t('sharing.endName', { name })}
        onClick={() => setAsking(true)}
      >
        {t('sharing.end')}
      </Button>
    );
  return (
    <Group gap={6} justify="flex-end" role="group" aria-label={t('sharing.endName', { name })}>
      <Text size="xs">{t('sharing.endNow')}</Text>
      <Button
        ref={sure}
        size="compact-xs"
        color="red"
        data-end-share
        loading={busy}
        onClick={(event) => void end(event.currentTarget)}
      >
        {t('sharing.endIt')}
      </Button>
      <Button size="compact-xs" variant="default" disabled={busy} onClick={() => setAsking(false)}>
        {t('sharing.keep')}
      </Button>
    </Group>
  );
}
