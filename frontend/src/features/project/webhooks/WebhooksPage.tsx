import { ActionIcon, Alert, Badge, Button, Card, Group, Menu, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconDots, IconPlus, IconWebhook } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CreatedWebhook, Webhook } from '@/api/contract/webhooks';
import { useCurrentProject, useMay } from '@/shared/domain/project';
import { useRevocation } from '@/shared/domain/useRevocation';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { CommandLine } from '@/shared/ui/CommandLine';
import { EmptyState } from '@/shared/ui/EmptyState';
import { Forbidden } from '@/shared/ui/Forbidden';
import { LongName } from '@/shared/ui/LongName';
import { Page } from '@/shared/ui/Page';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { SecretModal } from '@/shared/ui/SecretModal';
import { StateBadge } from '@/shared/ui/StateBadge';
import { notifyError, notifySuccess } from '@/shared/ui/undo';
import { ProjectHeader } from '../ProjectHeader';
import { Deliveries } from './Deliveries';
import { NewWebhookForm } from './NewWebhookForm';
import { useWebhookActions, useWebhooks } from './queries';

const route = getRouteApi('/settings/webhooks');

export function WebhooksPage() {
  const { t } = useTranslation();
  const project = useCurrentProject();
  if (useMay('admin')) return <Webhooks />;
  return (
    <Page>
      <ProjectHeader tab="webhooks" subtitle={t('webhooks.subtitle')} />
      {project && <Forbidden hint={t('webhooks.forbidden')} />}
    </Page>
  );
}

function Webhooks() {
  const { t } = useTranslation();
  const { create, of } = route.useSearch();
  const navigate = route.useNavigate();
  const webhooks = useWebhooks();
  const { remove, refresh } = useWebhookActions();
  const { hidden, revoke } = useRevocation<Webhook>({
    send: remove,
    refresh,
    words: (name) => ({ revoking: t('webhooks.removing', { name }), done: t('webhooks.removed', { name }) }),
  });
  const [renewed, setRenewed] = useState<CreatedWebhook | null>(null);
  const open = (search: { create?: string; of?: string }) =>
    void navigate({ search: (old) => ({ ...old, ...search }) });
  const close = () => void navigate({ search: (old) => ({ ...old, create: undefined, of: undefined }), replace: true });
  const rows = webhooks.rows?.filter(({ id }) => !hidden.has(id));
  const looked = rows?.find(({ id }) => id === of);
  const columns: Column<Webhook>[] = [
    { key: 'name', header: t('webhooks.name'), elastic: true, cell: (row) => <Named row={row} /> },
    { key: 'state', header: t('webhooks.state'), from: 'xs', cell: ({ active }) => <OnOff active={active} /> },
    { key: 'events', header: t('webhooks.events'), from: 'md', cell: ({ events }) => <Events events={events} /> },
    {
      key: 'last',
      header: t('webhooks.lastAccepted'),
      from: 'sm',
      cell: ({ last_success_at }) => (last_success_at ? <RelativeTime at={last_success_at} /> : t('webhooks.never')),
    },
    {
      key: 'actions',
      header: t('common.actions'),
      align: 'right',
      cell: (row) => (
        <Group gap={4} justify="flex-end" wrap="nowrap">
          <Button
            size="compact-sm"
            variant="light"
            onClick={() => open({ of: row.id })}
            aria-label={t('webhooks.deliveriesOf', { name: row.name })}
          >
            {t('webhooks.deliveries')}
          </Button>
          <RowMenu row={row} onRenewed={setRenewed} onRemove={() => revoke(row)} />
        </Group>
      ),
    },
  ];
  const add = (
    <Button leftSection={<IconPlus size={15} />} onClick={() => open({ create: 'yes' })} data-first-action>
      {t('webhooks.new')}
    </Button>
  );
  const empty = <EmptyState icon={IconWebhook} title={t('webhooks.empty')} action={add} />;
  return (
    <Page>
      <ProjectHeader tab="webhooks" subtitle={t('webhooks.subtitle')}>
        {add}
      </ProjectHeader>
      <Card p={0}>
        <DataTable
          {...webhooks}
          rows={rows}
          label={t('webhooks.title')}
          columns={columns}
          rowKey={({ id }) => id}
          empty={empty}
        />
      </Card>
      {create !== undefined && (
        <SecretModal<CreatedWebhook>
          title={t('webhooks.new')}
          onClose={close}
          form={(onCreated) => <NewWebhookForm onCreated={onCreated} onCancel={close} />}
          secret={(created) => <Secret created={created} onDone={close} />}
        />
      )}
      {renewed && (
        <SecretModal<CreatedWebhook>
          title={t('webhooks.rotate')}
          onClose={() => setRenewed(null)}
          form={() => <Secret created={renewed} onDone={() => setRenewed(null)} />}
          secret={() => null}
        />
      )}
      {looked && <Deliveries webhook={looked} onClose={close} />}
    </Page>
  );
}

function Named({ row }: { row: Webhook }) {
  const { t } = useTranslation();
  return (
    <Stack gap={0}>
      <LongName value={row.name} />
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {row.url}
      </Text>
      {row.off_reason && row.off_reason !== 'person' && (
        <Text size="xs" c="red">
          {t(`webhooks.off.${row.off_reason}`)}
        </Text>
      )}
    </Stack>
  );
}

function OnOff({ active }: { active: boolean }) {
  const { t } = useTranslation();
  return <StateBadge state={active ? 'active' : 'closed'} label={active ? t('webhooks.on') : t('webhooks.offWord')} />;
}

function Events({ events }: { events: string[] }) {
  return (
    <Group gap={4}>
      {events.map((kind) => (
        <Badge key={kind} size="sm" variant="default" tt="none" miw="max-content">
          {kind}
        </Badge>
      ))}
    </Group>
  );
}

interface RowMenuProps {
  row: Webhook;
  onRenewed: (renewed: CreatedWebhook) => void;
  onRemove: () => void;
}

function RowMenu({ row, onRenewed, onRemove }: RowMenuProps) {
  const { t } = useTranslation();
  const { setActive, rotate } = useWebhookActions();
  const turn = () =>
    void setActive(row.id, !row.active)
      .then(() => notifySuccess(t(row.active ? 'webhooks.turnedOff' : 'webhooks.turnedOn', { name: row.name })))
      .catch(notifyError);
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={t('webhooks.more', { name: row.name })}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={turn}>{row.active ? t('webhooks.turnOff') : t('webhooks.turnOn')}</Menu.Item>
        <Menu.Item onClick={() => void rotate(row.id).then(onRenewed).catch(notifyError)}>
          {t('webhooks.rotate')}
        </Menu.Item>
        <Menu.Item color="red" onClick={onRemove}>
          {t('webhooks.remove')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function Secret({ created, onDone }: { created: CreatedWebhook; onDone: () => void }) {
  const { t } = useTranslation();
  return (
    <Stack>
      <Alert color="orange" icon={<IconAlertTriangle size={18} />} title={t('settings.shownOnce')} role="alert">
        {created.old_secret_until ? t('webhooks.overlapHint') : t('webhooks.shownOnceHint')}
      </Alert>
      <section aria-label={t('webhooks.secret')} data-secret>
        <CommandLine command={created.secret} what={t('webhooks.secret')} />
      </section>
      <Group justify="flex-end">
        <Button onClick={onDone}>{t('settings.done')}</Button>
      </Group>
    </Stack>
  );
}
