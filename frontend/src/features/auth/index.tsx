import './words/index';
import { Alert, Button, Card, Center, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconAlertTriangle, IconHourglass } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/api/client';
import { type ApiError, asApiError } from '@/api/errors';
import { fieldWords } from '@/shared/domain/problemWords';
import { Password } from '@/shared/forms/Password';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { Logo } from '@/shared/ui/Logo';
import { AnchorLink } from '@/shared/ui/links';
import { CodeForm } from './CodeForm';
import { SingleSignOn, SingleSignOnFailed } from './SingleSignOn';
import { isServerPage, safeNext } from './safeNext';

export { ForgottenPage } from './ForgottenPage';
export { InvitePage } from './InvitePage';
export { ResetPage } from './ResetPage';
export { SecondFactorPage } from './SecondFactorPage';

const route = getRouteApi('/login');
/** The password was right: the next page asks for a code. */
const NEEDS_CODE = 'second_factor_required';
const FIELDS: readonly string[] = ['username', 'password'];

export function LoginPage() {
  const { next, step } = route.useSearch();
  const enter = useEnter(next);
  return step === 'code' ? <CodeForm next={next} onDone={enter} /> : <PasswordForm onDone={enter} />;
}

function PasswordForm({ onDone }: { onDone: () => Promise<void> }) {
  const { t } = useTranslation();
  const { next, reason, failed } = route.useSearch();
  const navigate = route.useNavigate();
  const login = $api.useMutation('post', '/api/v1/auth/login/', {
    meta: { ownsUnauthorized: true },
    onSuccess: onDone,
    onError: (thrown) => {
      const error = asApiError(thrown);
      if (error.code === NEEDS_CODE) void navigate({ search: { next, step: 'code' }, replace: true });
      form.setErrors(fieldWords(error));
    },
  });
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { username: '', password: '' },
    validate: {
      username: (value) => (value ? null : t('auth.required')),
      password: (value) => (value ? null : t('auth.required')),
    },
  });
  const waitS = useCountdown(login.error);
  useEffect(() => {
    document.title = [t('auth.signIn'), 'Atom'].join(' · ');
  }, [t]);
  return (
    <Center component="main" mih="100dvh" p="md">
      <Stack w={360} gap="lg">
        <Group gap="sm" justify="center">
          <Logo size={40} />
          <div>
            <Title order={1} fz={22}>
              {t('auth.title')}
            </Title>
            <Text size="sm" c="dimmed">
              {t('auth.subtitle')}
            </Text>
          </div>
        </Group>
        <Card
          padding="lg"
          component="form"
          onSubmit={form.onSubmit((values) => login.mutate({ body: values }))}
          // How long to wait stays true, whatever is typed.
          onChange={() => login.isError && waitS === 0 && login.reset()}
          noValidate
        >
          <Stack>
            {failed && login.isIdle && <SingleSignOnFailed failed={failed} />}
            <LoginNotice error={login.error} waitS={waitS} expired={reason === 'expired'} />
            <TextInput
              label={t('auth.username')}
              autoComplete="username"
              autoFocus
              key={form.key('username')}
              {...form.getInputProps('username')}
            />
            <Password
              label={t('auth.password')}
              autoComplete="current-password"
              key={form.key('password')}
              {...form.getInputProps('password')}
            />
            <Button type="submit" size="sm" loading={login.isPending} disabled={waitS > 0}>
              {t('auth.signIn')}
            </Button>
            <AnchorLink to="/forgotten" size="sm" ta="center">
              {t('auth.forgotten')}
            </AnchorLink>
            <SingleSignOn next={next} />
          </Stack>
        </Card>
      </Stack>
    </Center>
  );
}

/** Goes on to where somebody wanted to be who has just signed in. */
function useEnter(next: string | undefined) {
  const client = useQueryClient();
  const router = useRouter();
  return async () => {
    // The session, and every answer that an anonymous visitor got, is stale now.
    client.clear();
    const target = safeNext(next);
    if (isServerPage(target)) window.location.replace(target);
    else router.history.replace(target);
  };
}

/** Seconds until a throttled sign-in may be tried again. */
function useCountdown(thrown: unknown): number {
  const [leftS, setLeftS] = useState(0);
  useEffect(() => {
    const error: ApiError | null = thrown ? asApiError(thrown) : null;
    if (error?.status !== 429) {
      setLeftS(0);
      return;
    }
    const untilMs = Date.now() + (error.retryAfterS ?? 60) * 1000;
    const tick = () => setLeftS(Math.max(0, Math.ceil((untilMs - Date.now()) / 1000)));
    tick();
    const timer = setInterval(tick, 1000);
    return () => clearInterval(timer);
  }, [thrown]);
  return leftS;
}

function LoginNotice({ error: thrown, waitS, expired }: { error: unknown; waitS: number; expired: boolean }) {
  const { t } = useTranslation();
  const format = useFormat();
  if (!thrown) return expired ? <Text size="sm">{t('auth.expired')}</Text> : null;
  const error = asApiError(thrown);
  if (error.status === 429)
    return (
      <Alert color="orange" icon={<IconHourglass size={18} />} role="alert">
        {t('auth.throttled', { wait: format.duration(waitS) })}
      </Alert>
    );
  if (error.code === NEEDS_CODE) return null;
  if (error.status === 401)
    return (
      <Alert color="red" icon={<IconAlertTriangle size={18} />} role="alert">
        {t('auth.badCredentials')}
      </Alert>
    );
  // They stand at their fields.
  const names = Object.keys(error.fields);
  if (names.length > 0 && names.every((name) => FIELDS.includes(name))) return null;
  return <ErrorState error={error} shownFields={FIELDS} compact />;
}
