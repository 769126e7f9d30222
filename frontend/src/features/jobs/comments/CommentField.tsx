import { Button, Group, Textarea } from '@mantine/core';
import { type ReactNode, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { asApiError } from '@/api/errors';
import { fieldWords } from '@/shared/domain/problemWords';
import { readOfTab, writeOfTab } from '@/shared/ui/stored';
import { notifyError } from '@/shared/ui/undo';
import { typedName, withName } from './mention';
import { useNamed } from './queries';

interface CommentFieldProps {
  initial?: string;
  /** The name under which this tab keeps the text until it is sent: other parts of the page are looked at meanwhile. */
  draft?: string;
  submit: string;
  label: string;
  onSend: (text: string) => Promise<unknown>;
  /** Beside the button that sends. */
  children?: ReactNode;
}

/** Where a comment is written; after an @ the members are offered. Ctrl+Enter sends. */
export function CommentField({ initial = '', draft, submit, label, onSend, children }: CommentFieldProps) {
  const { t } = useTranslation();
  const [text, setOnly] = useState(() => (draft && readOfTab(draft)) || initial);
  const setText = (next: string) => {
    setOnly(next);
    if (draft) writeOfTab(draft, next);
  };
  const [typed, setTyped] = useState<string | null>(null);
  const [sending, setSending] = useState(false);
  const [wrong, setWrong] = useState<string>();
  const field = useRef<HTMLTextAreaElement>(null);
  const named = useNamed(typed);
  const send = async () => {
    if (text.trim() === '' || sending) return;
    setSending(true);
    try {
      await onSend(text);
      setText('');
    } catch (error) {
      const { text: said } = fieldWords(asApiError(error));
      setWrong(said);
      if (said === undefined) notifyError(error);
    } finally {
      setSending(false);
    }
  };
  const choose = (username: string) => {
    const [next, caret] = withName(text, field.current?.selectionStart ?? text.length, username);
    setText(next);
    setTyped(null);
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(caret, caret);
    });
  };
  const offered = typed ? (named.data?.results ?? []) : [];
  return (
    <>
      <Textarea
        ref={field}
        label={label}
        description={t('runpage.comments.hint')}
        rows={3}
        maxLength={10_000}
        value={text}
        error={wrong}
        onChange={(event) => {
          const { value, selectionStart } = event.currentTarget;
          setText(value);
          setWrong(undefined);
          setTyped(typedName(value, selectionStart));
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send();
          if (event.key === 'Escape') setTyped(null);
        }}
      />
      {offered.length > 0 && (
        <Group gap={6} mt={6} role="group" aria-label={t('runpage.comments.members')}>
          {offered.map((user) => (
            <Button key={user.username} size="compact-xs" variant="light" onClick={() => choose(user.username)}>
              {`@${user.username} ${user.full_name}`}
            </Button>
          ))}
        </Group>
      )}
      <Group justify="flex-end" mt="xs">
        {children}
        <Button loading={sending} disabled={text.trim() === ''} onClick={() => void send()}>
          {submit}
        </Button>
      </Group>
    </>
  );
}
