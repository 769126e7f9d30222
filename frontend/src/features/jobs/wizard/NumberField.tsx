import { TextInput, type TextInputProps } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import type { Typed } from './draft';

interface NumberFieldProps extends Omit<TextInputProps, 'value' | 'onChange' | 'min' | 'max' | 'step'> {
  value: Typed;
  /** A number, or the text that is none. */
  onChange: (value: Typed) => void;
  /** The step of the arrow keys and their bounds; typed numbers are not changed. */
  step?: number;
  min?: number;
  max?: number;
  /** To how many decimals a number is shown that was not typed here. */
  decimals?: number;
}

const readTyped = (text: string): Typed => {
  const typed = text.trim();
  return typed !== '' && Number.isFinite(Number(typed)) ? Number(typed) : typed;
};

const shown = (value: Typed, decimals: number | undefined) =>
  String(typeof value === 'number' && decimals !== undefined ? Number(value.toFixed(decimals)) : value);

/** Keeps what is typed. One that takes only digits would make 19 of 1e9 and 14 of 1e-4, without a word. */
export function NumberField({ value, onChange, step = 1, min, max, decimals, ...rest }: NumberFieldProps) {
  const [text, setText] = useState(() => shown(value, decimals));
  const type = (next: string) => {
    setText(next);
    onChange(readTyped(next));
  };
  const stepBy = (event: KeyboardEvent) => {
    const sign = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!sign || typeof value === 'string') return;
    event.preventDefault();
    // Without what 0.1 + 0.2 has too much.
    const next = Number((value + sign * step).toPrecision(12));
    type(String(Math.min(max ?? next, Math.max(min ?? next, next))));
  };
  return (
    <TextInput
      {...rest}
      inputMode="decimal"
      autoComplete="off"
      value={readTyped(text) === value ? text : shown(value, decimals)}
      onChange={(event) => type(event.currentTarget.value)}
      onKeyDown={stepBy}
    />
  );
}
