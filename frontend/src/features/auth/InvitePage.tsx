import { Button, Divider, Loader, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Accepted, OpenInvitation } from '@/api/contract/accounts';
import { asApiError } from '@/api/errors';
import { useMe } from '@/shared/domain/me';
import { fieldWords } from '@/shared/domain/problemWords';
import { Password } from '@/shared/forms/Password';
import { useRefused } from '@/shared/forms/useRefused';
import { ErrorState } from '@/shared/ui/ErrorState';
import { ButtonLink } from '@/shared/ui/links';
import { Frame } from './Frame';
import { accept, signUp, useInvitation } from './queries';

const route = getRouteApi('/invite/$token');

/** An invitation, opened by its link: accepted with a new account, or with the one that is signed in. */
export function InvitePage() {
  const { t } = useTranslation();
  const { token } = route.useParams();
  const { data: offer, error, isPending } = useInvitation(token);
  const me = useMe();
  const [mine, setMine] = useState(true);
  if (isPending)
    return (
      <Frame title={t('auth.invitation')}>
        <Loader size="sm" aria-label={t('common.loading')} />
      </Frame>
    );
  if (error || !offer)
    return (
      <Frame title={t('auth.invitation')}>
        <ErrorState error={error} compact />
        <ButtonLink to="/login" variant="default">
          {t('auth.toSignIn')}
        </ButtonLink>
      </Frame>
    );
  const subtitle = t('auth.invitedAs', { name: offer.invited_by, role: t(`people.roles.${offer.role}`) });
  const title = t('auth.invitedTo', { place: offer.place });
  if (me && mine) return <AcceptAsMe title={title} subtitle={subtitle} token={token} onOther={() => setMine(false)} />;
  return <NewAccount title={title} subtitle={subtitle} token={token} offer={offer} />;
}

/** Everything was read as somebody else, or as nobody: the page begins again where the role is. */
function useEnter() {
  const client = useQueryClient();
  const router = useRouter();
  return (accepted: Accepted | undefined) => {
    client.clear();
    const path = accepted?.project
      ? `/?project=${encodeURIComponent(accepted.project)}`
      : accepted?.unit
        ? `/settings/units/${accepted.unit}`
        : '/';
    router.history.replace(path);
  };
}

interface OfferProps {
  title: string;
  subtitle: string;
  token: string;
}

function AcceptAsMe({ title, subtitle, token, onOther }: OfferProps & { onOther: () => void }) {
  const { t } = useTranslation();
  const me = useMe();
  const enter = useEnter();
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const send = () => {
    setBusy(true);
    accept(token).then(enter, (thrown: unknown) => {
      setBusy(false);
      setError(thrown);
    });
  };
  return (
    <Frame title={title} subtitle={subtitle}>
      <Text size="sm">{t('auth.signedInAs', { name: me?.full_name || me?.username })}</Text>
      {error !== null && <ErrorState error={error} compact />}
      <Button onClick={send} loading={busy}>
        {t('auth.acceptAs', { name: me?.username })}
      </Button>
      <Button variant="subtle" onClick={onOther}>
        {t('auth.otherAccount')}
      </Button>
    </Frame>
  );
}

function NewAccount({ title, subtitle, token, offer }: OfferProps & { offer: OpenInvitation }) {
  const { t } = useTranslation();
  const enter = useEnter();
  const form = useForm({
    initialValues: { username: '', full_name: '', email: offer.email, password: '' },
    validate: {
      username: (value) => (value.trim() ? null : t('auth.required')),
      password: (value) => (value ? null : t('auth.required')),
    },
  });
  const [error, setError] = useRefused(form);
  const send = form.onSubmit(async (values) => {
    setError(null);
    try {
      enter(await signUp({ ...values, username: values.username.trim(), email: values.email.trim(), token }));
    } catch (thrown) {
      const wrong = fieldWords(asApiError(thrown));
      form.setErrors(wrong);
      if (Object.keys(wrong).length === 0) setError(thrown);
    }
  });
  return (
    <Frame title={title} subtitle={subtitle} onSubmit={send}>
      <TextInput
        label={t('auth.username')}
        description={t('auth.usernameHint')}
        autoComplete="username"
        autoFocus
        {...form.getInputProps('username')}
      />
      <TextInput label={t('auth.fullName')} autoComplete="name" {...form.getInputProps('full_name')} />
      <TextInput
        label={t('people.email')}
        description={offer.email ? t('auth.emailFixed') : t('auth.emailHint')}
        type="email"
        autoComplete="email"
        disabled={Boolean(offer.email)}
        {...form.getInputProps('email')}
      />
      <Password
        label={t('auth.password')}
        description={t('auth.passwordHint')}
        autoComplete="new-password"
        {...form.getInputProps('password')}
      />
      {error !== null && <ErrorState error={error} compact />}
      <Button type="submit" loading={form.submitting}>
        {t('auth.makeAccount')}
      </Button>
      <Divider label={t('auth.or')} />
      <Stack gap={4}>
        <ButtonLink to="/login" search={{ next: `/invite/${token}` }} variant="default">
          {t('auth.haveAccount')}
        </ButtonLink>
      </Stack>
    </Frame>
  );
}
