import { Button, Card, Group, Stack, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { asApiError } from '@/api/errors';
import { useMe } from '@/shared/domain/me';
import { fieldWords } from '@/shared/domain/problemWords';
import { Password } from '@/shared/forms/Password';
import { useRefused } from '@/shared/forms/useRefused';
import { ErrorState } from '@/shared/ui/ErrorState';
import { notifySuccess } from '@/shared/ui/undo';
import { changePassword, useRefreshSessions } from './queries';

const EMPTY = { current_password: '', new_password: '' };

export function PasswordForm() {
  const { t } = useTranslation();
  const me = useMe();
  const refresh = useRefreshSessions();
  const form = useForm({
    initialValues: EMPTY,
    validate: {
      current_password: (value) => (value ? null : t('people.required')),
      new_password: (value) => (value ? null : t('people.required')),
    },
  });
  const [error, setError] = useRefused(form);
  const send = form.onSubmit(async (values) => {
    setError(null);
    try {
      await changePassword(values);
      form.setValues(EMPTY);
      notifySuccess(t('people.passwordChanged'));
      await refresh();
    } catch (thrown) {
      const wrong = fieldWords(asApiError(thrown));
      form.setErrors(wrong);
      if (Object.keys(wrong).length === 0) setError(thrown);
    }
  });
  return (
    <section aria-label={t('people.passwordTitle')}>
      <Title order={2} fz={16} mb="xs">
        {t('people.passwordTitle')}
      </Title>
      <Card p="md" maw={460} component="form" onSubmit={send} noValidate>
        <Stack>
          {/* Tells a password manager whose password this is. */}
          <input type="hidden" name="username" autoComplete="username" value={me?.username ?? ''} readOnly />
          <Password
            label={t('people.currentPassword')}
            autoComplete="current-password"
            {...form.getInputProps('current_password')}
          />
          <Password
            label={t('people.newPassword')}
            description={t('people.passwordHint')}
            autoComplete="new-password"
            {...form.getInputProps('new_password')}
          />
          {error !== null && <ErrorState error={error} compact />}
          <Group justify="flex-end">
            <Button type="submit" loading={form.submitting}>
              {t('people.changePassword')}
            </Button>
          </Group>
        </Stack>
      </Card>
    </section>
  );
}
