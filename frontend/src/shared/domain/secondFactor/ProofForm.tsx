import { Anchor, Button, type ButtonProps, Group, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Proof } from '@/api/contract/accounts';
import { asApiError } from '@/api/errors';
import { Password } from '../../forms/Password';
import { useRefused } from '../../forms/useRefused';
import { ErrorState } from '../../ui/ErrorState';
import { fieldWords } from '../problemWords';
import { CodeInput } from './CodeInput';

interface ProofFormProps {
  /** The proofs that the person can give: a password, a code, or neither. */
  hasPassword: boolean;
  hasCode: boolean;
  hint?: string;
  label: string;
  color?: ButtonProps['color'];
  onProof: (proof: Proof) => Promise<unknown>;
}

/** Asks somebody who is signed in to show once more who they are. */
export function ProofForm({ hasPassword, hasCode, hint, label, color, onProof }: ProofFormProps) {
  const { t } = useTranslation();
  const [by, setBy] = useState<'password' | 'code' | null>(hasPassword ? 'password' : hasCode ? 'code' : null);
  const form = useForm({
    initialValues: { password: '', code: '' },
    validate: (values) => (by && !values[by].trim() ? { [by]: t('secondFactor.required') } : {}),
  });
  const [error, setError] = useRefused(form);
  const send = form.onSubmit(async (values) => {
    setError(null);
    try {
      await onProof(by ? { [by]: values[by] } : {});
    } catch (thrown) {
      const wrong = fieldWords(asApiError(thrown));
      form.setErrors(wrong);
      if (Object.keys(wrong).length === 0) setError(thrown);
    }
  });
  return (
    <form onSubmit={send} noValidate>
      <Stack>
        <Text size="sm">{hint ?? t(by ? 'secondFactor.proofHint' : 'secondFactor.noProof')}</Text>
        {by === 'password' && (
          <Password
            label={t('secondFactor.password')}
            autoComplete="current-password"
            data-autofocus
            {...form.getInputProps('password')}
          />
        )}
        {by === 'code' && (
          <CodeInput
            label={t('secondFactor.code')}
            description={t('secondFactor.codeHint')}
            data-autofocus
            {...form.getInputProps('code')}
          />
        )}
        {error !== null && <ErrorState error={error} compact />}
        <Group justify="space-between">
          {hasPassword && hasCode ? (
            <Anchor
              component="button"
              type="button"
              size="sm"
              onClick={() => {
                setError(null);
                setBy(by === 'code' ? 'password' : 'code');
              }}
            >
              {t(by === 'code' ? 'secondFactor.byPassword' : 'secondFactor.byCode')}
            </Anchor>
          ) : (
            <span />
          )}
          <Button type="submit" loading={form.submitting} color={color}>
            {label}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
