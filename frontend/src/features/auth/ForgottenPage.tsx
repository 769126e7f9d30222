import { Alert, Button, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconMailCheck } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { asApiError } from '@/api/errors';
import { fieldWords } from '@/shared/domain/problemWords';
import { useRefused } from '@/shared/forms/useRefused';
import { ErrorState } from '@/shared/ui/ErrorState';
import { ButtonLink } from '@/shared/ui/links';
import { Frame } from './Frame';
import { askForLink, useSendsMail } from './queries';

/** A link by mail for who has forgotten the password; without mail, whom to ask. */
export function ForgottenPage() {
  const { t } = useTranslation();
  const sendsMail = useSendsMail();
  const [sent, setSent] = useState(false);
  const form = useForm({
    initialValues: { email: '' },
    validate: { email: (value) => (value.trim() ? null : t('auth.required')) },
  });
  const [error, setError] = useRefused(form);
  const back = (
    <ButtonLink to="/login" variant="default">
      {t('auth.toSignIn')}
    </ButtonLink>
  );
  const send = form.onSubmit(async ({ email }) => {
    setError(null);
    try {
      await askForLink(email.trim());
      setSent(true);
    } catch (thrown) {
      const wrong = fieldWords(asApiError(thrown));
      form.setErrors(wrong);
      if (Object.keys(wrong).length === 0) setError(thrown);
    }
  });
  if (sendsMail === false)
    return (
      <Frame title={t('auth.forgotten')}>
        <Text size="sm">{t('auth.noMail')}</Text>
        {back}
      </Frame>
    );
  if (sent)
    return (
      <Frame title={t('auth.forgotten')}>
        <Alert color="teal" icon={<IconMailCheck size={18} />} role="status">
          {t('auth.linkSent')}
        </Alert>
        {back}
      </Frame>
    );
  return (
    <Frame title={t('auth.forgotten')} onSubmit={send}>
      <TextInput
        label={t('people.email')}
        description={t('auth.forgottenHint')}
        type="email"
        autoComplete="email"
        autoFocus
        {...form.getInputProps('email')}
      />
      {error !== null && <ErrorState error={error} compact />}
      <Button type="submit" loading={form.submitting}>
        {t('auth.sendLink')}
      </Button>
      {back}
    </Frame>
  );
}
