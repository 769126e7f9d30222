import { Alert, Button, Loader } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconCheck } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { asApiError } from '@/api/errors';
import { fieldWords } from '@/shared/domain/problemWords';
import { Password } from '@/shared/forms/Password';
import { useRefused } from '@/shared/forms/useRefused';
import { ErrorState } from '@/shared/ui/ErrorState';
import { ButtonLink } from '@/shared/ui/links';
import { Frame } from './Frame';
import { setPassword, useResetOffer } from './queries';

const route = getRouteApi('/reset/$token');

/** A new password, by a link that works once. */
export function ResetPage() {
  const { t } = useTranslation();
  const { token } = route.useParams();
  const { data: offer, error: refused, isPending } = useResetOffer(token);
  const [done, setDone] = useState(false);
  const form = useForm({
    initialValues: { password: '' },
    validate: { password: (value) => (value ? null : t('auth.required')) },
  });
  const [error, setError] = useRefused(form);
  const signIn = <ButtonLink to="/login">{t('auth.toSignIn')}</ButtonLink>;
  const send = form.onSubmit(async ({ password }) => {
    setError(null);
    try {
      await setPassword(token, password);
      setDone(true);
    } catch (thrown) {
      const wrong = fieldWords(asApiError(thrown));
      form.setErrors(wrong);
      if (Object.keys(wrong).length === 0) setError(thrown);
    }
  });
  if (isPending)
    return (
      <Frame title={t('auth.newPassword')}>
        <Loader size="sm" aria-label={t('common.loading')} />
      </Frame>
    );
  if (refused || !offer)
    return (
      <Frame title={t('auth.newPassword')}>
        <ErrorState error={refused} compact />
        {signIn}
      </Frame>
    );
  if (done)
    return (
      <Frame title={t('auth.newPassword')}>
        <Alert color="teal" icon={<IconCheck size={18} />} role="status">
          {t('auth.passwordSet')}
        </Alert>
        {signIn}
      </Frame>
    );
  return (
    <Frame title={t('auth.newPassword')} subtitle={t('auth.newPasswordFor', { name: offer.username })} onSubmit={send}>
      <input type="hidden" name="username" autoComplete="username" value={offer.username} readOnly />
      <Password
        label={t('auth.newPassword')}
        description={t('auth.passwordHint')}
        autoComplete="new-password"
        autoFocus
        {...form.getInputProps('password')}
      />
      {error !== null && <ErrorState error={error} compact />}
      <Button type="submit" loading={form.submitting}>
        {t('auth.setPassword')}
      </Button>
    </Frame>
  );
}
