import { Badge, Button, Card, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconPlus, IconRobot } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Role, ServiceAccount } from '@/api/contract/accounts';
import { FormFrame } from '@/shared/forms/FormFrame';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { CutName } from '@/shared/ui/CutName';
import { useCommands } from '@/shared/ui/commands';
import { Dialog } from '@/shared/ui/Dialog';
import { EmptyState } from '@/shared/ui/EmptyState';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { useShortcuts } from '@/shared/ui/shortcuts';
import { confirmUndo, notifyError, notifySuccess } from '@/shared/ui/undo';
import { Count } from '@/shared/ui/values';
import type { Place } from './place';
import {
  changeServiceAccount,
  createServiceAccount,
  useRefreshServiceAccounts,
  useServiceAccounts,
} from './placeQueries';
import { RoleSelect } from './RoleSelect';
import { ServiceTokens } from './ServiceTokens';

/** Programs with a role here. */
export function ServiceTab({ place }: { place: Place }) {
  const { t } = useTranslation();
  const accounts = useServiceAccounts(place);
  const [making, setMaking] = useState(false);
  const [shown, setShown] = useState<ServiceAccount | null>(null);
  const begin = () => setMaking(true);
  useShortcuts([{ keys: 'N', label: t('people.newService'), run: begin }]);
  useCommands([{ id: 'new-service-account', label: t('people.newService'), icon: IconPlus, run: begin }]);
  const columns = useColumns(place, setShown);
  return (
    <Stack>
      <Group justify="flex-end">
        <Button leftSection={<IconPlus size={15} />} onClick={begin} data-first-action>
          {t('people.newService')}
        </Button>
      </Group>
      <Card p={0}>
        <DataTable
          {...accounts}
          label={t('people.service')}
          columns={columns}
          rowKey={({ id }) => id}
          empty={<EmptyState icon={IconRobot} title={t('people.noService')} />}
        />
      </Card>
      <Dialog opened={making} onClose={() => setMaking(false)} title={t('people.newService')} size="md">
        <NewServiceForm place={place} onDone={() => setMaking(false)} />
      </Dialog>
      <Dialog
        opened={shown !== null}
        onClose={() => setShown(null)}
        title={t('people.tokensOf', { name: shown?.username ?? '' })}
        size="xl"
      >
        {shown && <ServiceTokens place={place} account={shown} />}
      </Dialog>
    </Stack>
  );
}

function NewServiceForm({ place, onDone }: { place: Place; onDone: () => void }) {
  const { t } = useTranslation();
  const refresh = useRefreshServiceAccounts(place);
  const form = useForm({
    initialValues: { name: '', role: 'researcher' as Role },
    validate: { name: (value) => (value.trim() ? null : t('people.required')) },
  });
  const send = async ({ name, role }: { name: string; role: Role }) => {
    await createServiceAccount(place, { name: name.trim(), role });
    await refresh();
    onDone();
  };
  return (
    <FormFrame form={form} send={send} submit={t('common.create')} onCancel={onDone}>
      <TextInput
        label={t('common.name')}
        description={t('people.serviceNameHint')}
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('name')}
      />
      <RoleSelect
        label={t('people.role')}
        description={t(`people.roleHints.${form.values.role}`)}
        value={form.values.role}
        onChange={(role) => form.setFieldValue('role', role)}
      />
    </FormFrame>
  );
}

function useColumns(place: Place, show: (account: ServiceAccount) => void): Column<ServiceAccount>[] {
  const { t } = useTranslation();
  return [
    {
      key: 'name',
      header: t('common.name'),
      cell: ({ username, is_active }) => (
        <Group gap={6} wrap="nowrap">
          <CutName name={username} />
          {!is_active && (
            <Badge size="xs" color="gray">
              {t('people.inactive')}
            </Badge>
          )}
        </Group>
      ),
    },
    { key: 'role', header: t('people.role'), cell: (account) => <ServiceRole place={place} account={account} /> },
    {
      key: 'tokens',
      header: t('people.tokens'),
      align: 'right',
      from: 'sm',
      cell: ({ token_count }) => <Count value={token_count} />,
    },
    {
      key: 'used',
      header: t('settings.lastUsed'),
      from: 'md',
      cell: ({ last_used_at }) => <RelativeTime at={last_used_at} />,
    },
    {
      key: 'act',
      header: t('common.actions'),
      align: 'right',
      cell: (account) => (
        <Group gap="xs" justify="flex-end">
          <Button
            size="compact-xs"
            variant="light"
            aria-label={t('people.tokensOf', { name: account.username })}
            onClick={() => show(account)}
          >
            {t('people.tokens')}
          </Button>
          <Switching place={place} account={account} />
        </Group>
      ),
    },
  ];
}

function ServiceRole({ place, account }: { place: Place; account: ServiceAccount }) {
  const { t } = useTranslation();
  const refresh = useRefreshServiceAccounts(place);
  const change = (role: Role) =>
    void changeServiceAccount(place, account.id, { role }).catch(notifyError).finally(refresh);
  return (
    <RoleSelect
      size="xs"
      w={140}
      aria-label={t('people.roleOf', { name: account.username })}
      value={account.role ?? 'viewer'}
      onChange={change}
    />
  );
}

function Switching({ place, account: { id, username, is_active } }: { place: Place; account: ServiceAccount }) {
  const { t } = useTranslation();
  const refresh = useRefreshServiceAccounts(place);
  const set = async (next: boolean) => {
    await changeServiceAccount(place, id, { is_active: next });
    notifySuccess(t(next ? 'people.activated' : 'people.deactivated', { name: username }));
    await refresh();
  };
  const act = () =>
    is_active
      ? confirmUndo({
          message: t('people.deactivatingService', { name: username }),
          commit: () => set(false),
          rollback: () => {},
        })
      : void set(true).catch(notifyError);
  return (
    <Button
      size="compact-xs"
      variant="light"
      color={is_active ? 'red' : undefined}
      aria-label={t(is_active ? 'people.deactivateName' : 'people.activateName', { name: username })}
      onClick={act}
    >
      {t(is_active ? 'people.deactivate' : 'people.activate')}
    </Button>
  );
}
