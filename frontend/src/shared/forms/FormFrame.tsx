import { Button, Group, Stack } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { asApiError } from '@/api/errors';
import { fieldWords } from '../domain/problemWords';
import { ErrorState } from '../ui/ErrorState';

export interface FormFrameProps<T extends object> {
  form: UseFormReturnType<T>;
  /** Sends the values; whatever it throws is shown, at the fields where the server names them. */
  send: (values: T) => Promise<unknown>;
  /** The submit button's word. */
  submit: string;
  onCancel: () => void;
  /** False while what the form decides about is still on its way: nothing can be sent. */
  ready?: boolean;
  /** The form's name of a field that the server calls otherwise: `{ batch_size: 'batchSize' }`. */
  fieldNames?: Readonly<Record<string, string>>;
  children: ReactNode;
}

/** Finds wrong inputs; a group of inputs has `data-wrong`, and names its way out with `data-fix`. */
const WRONG = '[aria-invalid=true],[data-wrong=true]';

function focusFirstWrong(root: HTMLElement | null): void {
  const wrong = root?.querySelector<HTMLElement>(WRONG);
  const target = wrong?.matches('input,textarea,select,button')
    ? wrong
    : (wrong?.querySelector<HTMLElement>('[data-fix]') ?? wrong?.querySelector<HTMLElement>('input,button'));
  // The button lost the focus while it was disabled: from nowhere, Tab would leave the dialog.
  (target ?? root?.querySelector<HTMLElement>('[type=submit]'))?.focus();
}

/** A form in a drawer or a modal: its fields, what the server refused, and its two buttons; the first wrong field gets the focus, or
 *  the button where no field is to blame. */
export function FormFrame<T extends object>(props: FormFrameProps<T>) {
  const { form, send, submit, onCancel, ready = true, fieldNames = {}, children } = props;
  const { t } = useTranslation();
  const root = useRef<HTMLFormElement>(null);
  const [error, setError] = useState<unknown>(null);
  const [shownFields, setShownFields] = useState<string[]>([]);
  const [refusals, setRefusals] = useState(0);
  useEffect(() => {
    if (refusals > 0 && !form.submitting) focusFirstWrong(root.current);
  }, [refusals, form.submitting]);
  const refuse = () => setRefusals((count) => count + 1);
  // A refusal belongs to the values that were sent. Forms that leave their values to the inputs tell no change of
  // these; others have inputs that are changed by a click.
  const forget = () => setError(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the change that counts
  useEffect(forget, [form.values]);
  const onSubmit = form.onSubmit(
    async (values) => {
      setError(null);
      try {
        await send(values);
      } catch (thrown) {
        const refused = fieldWords(asApiError(thrown));
        const named = Object.entries(refused).map(([said, text]) => ({ said, name: fieldNames[said] ?? said, text }));
        const known = named.filter(({ name }) => (name.split('.')[0] ?? '') in values);
        form.setErrors(Object.fromEntries(known.map(({ name, text }) => [name, text])));
        setShownFields(known.map(({ said }) => said));
        if (known.length === 0 || known.length < named.length) setError(thrown);
        refuse();
      }
    },
    () => {
      forget();
      refuse();
    },
  );
  return (
    <form ref={root} onSubmit={onSubmit} onChange={forget} noValidate>
      <Stack>
        {children}
        {error !== null && <ErrorState error={error} shownFields={shownFields} compact />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            {t('common.cancel')}
          </Button>
          <Button type="submit" loading={form.submitting} disabled={!ready}>
            {submit}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
