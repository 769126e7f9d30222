import { TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';

const PAUSE_MS = 500;

interface LateTextProps extends Omit<TextInputProps, 'value' | 'onChange' | 'onBlur'> {
  value: string;
  onCommit: (value: string) => void;
}

/** A text that counts after a pause or when the field is left: each letter would be a step of undo. */
export function LateText({ value, onCommit, ...field }: LateTextProps) {
  const [text, setText] = useState(value);
  const known = useRef(value);
  const commit = (next: string) => {
    if (next === known.current) return;
    known.current = next;
    onCommit(next);
  };
  const later = useDebouncedCallback(commit, PAUSE_MS);
  useEffect(() => {
    // The committed value comes back; more may have been typed since.
    if (value === known.current) return;
    known.current = value;
    later.cancel();
    setText(value);
  }, [value, later]);
  return (
    <TextInput
      {...field}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        later(event.currentTarget.value);
      }}
      onBlur={() => {
        later.cancel();
        commit(text);
      }}
    />
  );
}
