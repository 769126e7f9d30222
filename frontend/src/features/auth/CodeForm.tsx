import { Button, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api } from '@/api/client';
import { asApiError } from '@/api/errors';
import { fieldWords } from '@/shared/domain/problemWords';
import { CodeInput } from '@/shared/domain/secondFactor/CodeInput';
import { useRefused } from '@/shared/forms/useRefused';
import { ErrorState } from '@/shared/ui/ErrorState';
import { AnchorLink } from '@/shared/ui/links';
import { Frame } from './Frame';

/** The second step of signing in. */
export function CodeForm({ next, onDone }: { next?: string; onDone: () => Promise<void> }) {
  const { t } = useTranslation();
  const form = useForm({
    initialValues: { code: '' },
    validate: { code: (value) => (value.trim() ? null : t('auth.required')) },
  });
  const [error, setError] = useRefused(form);
  const send = form.onSubmit(async ({ code }) => {
    setError(null);
    try {
      await api.POST('/api/v1/auth/login/code/', { body: { code } });
      await onDone();
    } catch (thrown) {
      const wrong = fieldWords(asApiError(thrown));
      form.setErrors(wrong);
      if (Object.keys(wrong).length === 0) setError(thrown);
    }
  });
  return (
    <Frame title={t('secondFactor.signInTitle')} subtitle={t('secondFactor.signInSubtitle')} onSubmit={send}>
      <CodeInput
        label={t('secondFactor.code')}
        description={t('secondFactor.codeHint')}
        autoFocus
        {...form.getInputProps('code')}
      />
      {error !== null && <ErrorState error={error} compact />}
      <Button type="submit" loading={form.submitting}>
        {t('auth.signIn')}
      </Button>
      <Text size="sm" c="dimmed">
        {t('secondFactor.lost')}
      </Text>
      <AnchorLink to="/login" search={{ next }} size="sm" ta="center">
        {t('secondFactor.startAgain')}
      </AnchorLink>
    </Frame>
  );
}
