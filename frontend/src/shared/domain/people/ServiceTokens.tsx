import { Alert, Badge, Button, Checkbox, Code, Group, Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconAlertTriangle, IconKey, IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Scope, ServiceAccount, ServiceToken } from '@/api/contract/accounts';
import { useHiding } from '@/shared/domain/useHiding';
import { FormFrame } from '@/shared/forms/FormFrame';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { CommandLine } from '@/shared/ui/CommandLine';
import { ShownOnce } from '@/shared/ui/Dialog';
import { EmptyState } from '@/shared/ui/EmptyState';
import { EndButton } from '@/shared/ui/EndButton';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import type { Place } from './place';
import { createServiceToken, revokeServiceToken, useRefreshServiceAccounts, useServiceTokens } from './placeQueries';

const SCOPES: Scope[] = ['read', 'push', 'write', 'admin'];
const DAYS = [30, 90, 365];
const NEVER = 'never';
const DAY_MS = 86_400_000;

interface ServiceTokensProps {
  place: Place;
  account: ServiceAccount;
}

/** The tokens of a service account; a new one is shown once. */
export function ServiceTokens({ place, account }: ServiceTokensProps) {
  const { t } = useTranslation();
  const tokens = useServiceTokens(place, account.id);
  const refresh = useRefreshServiceAccounts(place);
  const { hidden, end } = useHiding();
  const [step, setStep] = useState<'list' | 'form' | { secret: string }>('list');
  const revoke = (token: ServiceToken) =>
    end(token.id, {
      message: t('settings.revoking', { name: token.name }),
      done: t('settings.revokedDone', { name: token.name }),
      send: () => revokeServiceToken(place, account.id, token.id),
      refresh,
    });
  const columns = useColumns(revoke);
  if (step === 'form')
    return (
      <NewTokenForm
        place={place}
        account={account}
        onCancel={() => setStep('list')}
        onMade={async (secret) => {
          setStep({ secret });
          await refresh();
        }}
      />
    );
  if (step !== 'list') return <Secret secret={step.secret} onDone={() => setStep('list')} />;
  return (
    <Stack>
      {account.is_active && (
        <Group justify="flex-end">
          <Button leftSection={<IconPlus size={15} />} onClick={() => setStep('form')} data-autofocus>
            {t('settings.newToken')}
          </Button>
        </Group>
      )}
      <DataTable
        {...tokens}
        rows={tokens.rows?.filter(({ id }) => !hidden.has(id))}
        label={t('people.tokens')}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<EmptyState icon={IconKey} title={t('people.noTokens')} compact />}
      />
    </Stack>
  );
}

function Secret({ secret, onDone }: { secret: string; onDone: () => void }) {
  const { t } = useTranslation();
  return (
    <ShownOnce>
      <Stack>
        <Alert color="orange" icon={<IconAlertTriangle size={18} />} title={t('settings.shownOnce')} role="alert">
          {t('settings.shownOnceHint')}
        </Alert>
        <section aria-label={t('settings.secret')} data-secret>
          <CommandLine command={secret} what={t('settings.secret')} />
        </section>
        <Group justify="flex-end">
          <Button onClick={onDone}>{t('settings.done')}</Button>
        </Group>
      </Stack>
    </ShownOnce>
  );
}

interface NewTokenFormProps extends ServiceTokensProps {
  onMade: (secret: string) => Promise<void>;
  onCancel: () => void;
}

function NewTokenForm({ place, account, onMade, onCancel }: NewTokenFormProps) {
  const { t } = useTranslation();
  const form = useForm({
    initialValues: { name: '', scopes: ['write'] as Scope[], days: '90' },
    validate: {
      name: (value) => (value.trim() ? null : t('people.required')),
      scopes: (value) => (value.length > 0 ? null : t('settings.noScope')),
    },
  });
  const send = async ({ name, scopes, days }: typeof form.values) => {
    const expires_at = days === NEVER ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString();
    const made = await createServiceToken(place, account.id, { name: name.trim(), scopes, expires_at });
    await onMade(made.secret);
  };
  return (
    <FormFrame form={form} send={send} submit={t('settings.create')} onCancel={onCancel}>
      <TextInput
        label={t('settings.tokenName')}
        description={t('settings.tokenNameHint')}
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('name')}
      />
      <Checkbox.Group
        label={t('settings.scopes')}
        data-wrong={Boolean(form.errors.scopes)}
        {...form.getInputProps('scopes')}
      >
        <Stack gap="xs" my={6}>
          {SCOPES.map((scope) => (
            <Checkbox
              key={scope}
              size="xs"
              value={scope}
              label={t(`settings.scope_${scope}`)}
              description={t(`settings.scope_${scope}Hint`)}
            />
          ))}
        </Stack>
      </Checkbox.Group>
      <Select
        label={t('settings.expiry')}
        data={[
          ...DAYS.map((count) => ({ value: String(count), label: t('settings.days', { count }) })),
          { value: NEVER, label: t('settings.noExpiry') },
        ]}
        allowDeselect={false}
        {...form.getInputProps('days')}
      />
    </FormFrame>
  );
}

function useColumns(revoke: (token: ServiceToken) => void): Column<ServiceToken>[] {
  const { t } = useTranslation();
  return [
    { key: 'name', header: t('settings.tokenName'), cell: ({ name }) => name },
    {
      key: 'prefix',
      header: t('settings.prefix'),
      from: 'sm',
      cell: ({ prefix }) => <Code>{`atom_${prefix}_…`}</Code>,
    },
    {
      key: 'scopes',
      header: t('settings.scopes'),
      cell: ({ scopes }) => (
        <Group gap={4}>
          {scopes.map((scope) => (
            <Badge key={scope} size="sm" miw="max-content" color={scope === 'admin' ? 'orange' : 'gray'}>
              {t(`settings.scope_${scope}`)}
            </Badge>
          ))}
        </Group>
      ),
    },
    {
      key: 'used',
      header: t('settings.lastUsed'),
      from: 'sm',
      cell: ({ last_used_at }) => <RelativeTime at={last_used_at} />,
    },
    {
      key: 'expires',
      header: t('settings.expires'),
      from: 'sm',
      cell: ({ expires_at }) => <RelativeTime at={expires_at} />,
    },
    {
      key: 'revoke',
      header: t('common.actions'),
      align: 'right',
      cell: (token) => (
        <EndButton
          label={t('settings.revoke')}
          name={t('settings.revokeName', { name: token.name })}
          onEnd={() => revoke(token)}
        />
      ),
    },
  ];
}
