import { TextInput, type TextInputProps } from '@mantine/core';

/** A field for a code: telephones offer digits, and password managers the code that they know. */
export function CodeInput({ digits = false, ...props }: TextInputProps & { digits?: boolean }) {
  return (
    <TextInput
      autoComplete="one-time-code"
      inputMode={digits ? 'numeric' : 'text'}
      autoCapitalize="none"
      autoCorrect="off"
      spellCheck={false}
      maxLength={40}
      {...props}
    />
  );
}
