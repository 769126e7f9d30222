import { Button, Code, Group, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SecondFactorOffer } from '@/api/contract/accounts';
import { asApiError } from '@/api/errors';
import { useRefused } from '../../forms/useRefused';
import { CopyIcon } from '../../ui/CopyId';
import { ErrorState } from '../../ui/ErrorState';
import { fieldWords } from '../problemWords';
import { CodeInput } from './CodeInput';
import { ProofForm } from './ProofForm';
import { begin, confirm } from './queries';
import { RecoveryCodes } from './RecoveryCodes';

interface SetUpProps {
  hasPassword: boolean;
  /** Whether it takes the place of one that is in force. */
  isOn: boolean;
  onDone: () => void;
}

/** The way to a second factor: who it is, the secret, a first code, recovery codes to keep. */
export function SetUp({ hasPassword, isOn, onDone }: SetUpProps) {
  const { t } = useTranslation();
  const [offer, setOffer] = useState<SecondFactorOffer | null>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  if (codes) return <RecoveryCodes codes={codes} onDone={onDone} />;
  if (offer) return <Confirm offer={offer} onCodes={setCodes} />;
  return (
    <ProofForm
      hasPassword={hasPassword}
      hasCode={isOn}
      label={t('secondFactor.next')}
      onProof={async (proof) => setOffer((await begin(proof)) ?? null)}
    />
  );
}

function Confirm({ offer, onCodes }: { offer: SecondFactorOffer; onCodes: (codes: string[]) => void }) {
  const { t } = useTranslation();
  const form = useForm({
    initialValues: { code: '' },
    validate: { code: (value) => (value.trim() ? null : t('secondFactor.required')) },
  });
  const [error, setError] = useRefused(form);
  const send = form.onSubmit(async ({ code }) => {
    setError(null);
    try {
      onCodes(await confirm(code));
    } catch (thrown) {
      const wrong = fieldWords(asApiError(thrown));
      form.setErrors(wrong);
      if (Object.keys(wrong).length === 0) setError(thrown);
    }
  });
  return (
    <form onSubmit={send} noValidate>
      <Stack>
        <Text size="sm">{t('secondFactor.scan')}</Text>
        <img
          src={offer.picture}
          alt={t('secondFactor.picture')}
          style={{ width: 200, maxWidth: '100%', alignSelf: 'center', imageRendering: 'pixelated' }}
        />
        <div>
          <Text size="sm">{t('secondFactor.type')}</Text>
          <Group gap={6} wrap="nowrap">
            <Code style={{ overflowWrap: 'anywhere' }}>{offer.secret.match(/.{1,4}/g)?.join(' ')}</Code>
            <CopyIcon value={offer.secret} what={t('secondFactor.secret')} />
          </Group>
        </div>
        <CodeInput digits label={t('secondFactor.firstCode')} autoFocus {...form.getInputProps('code')} />
        {error !== null && <ErrorState error={error} compact />}
        <Group justify="flex-end">
          <Button type="submit" loading={form.submitting}>
            {t('secondFactor.confirm')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
