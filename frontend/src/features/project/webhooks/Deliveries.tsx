import { Alert, Button, Code, Drawer, Group, ScrollArea, Stack, Text } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Delivery, Webhook } from '@/api/contract/webhooks';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { KeyValueList } from '@/shared/ui/KeyValueList';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { StateBadge } from '@/shared/ui/StateBadge';
import { notifyError, notifySuccess } from '@/shared/ui/undo';
import { useDeliveries, useDelivery, useWebhookActions } from './queries';

/** The deliveries of a webhook, and one of them in full. */
export function Deliveries({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const { t } = useTranslation();
  const [shown, setShown] = useState('');
  const deliveries = useDeliveries(webhook.id);
  const { test } = useWebhookActions();
  const send = () =>
    void test(webhook.id)
      .then(() => notifySuccess(t('webhooks.testSent')))
      .catch(notifyError);
  const columns: Column<Delivery>[] = [
    {
      key: 'kind',
      header: t('webhooks.event'),
      cell: ({ id, kind }) => (
        <Button size="compact-sm" variant="subtle" onClick={() => setShown(id)} aria-pressed={shown === id}>
          {kind}
        </Button>
      ),
    },
    { key: 'state', header: t('webhooks.state'), cell: ({ state }) => <DeliveryState state={state} /> },
    { key: 'status', header: t('webhooks.answer'), align: 'right', cell: ({ status_code }) => status_code ?? '–' },
    { key: 'tries', header: t('webhooks.tries'), align: 'right', from: 'sm', cell: ({ tries }) => tries },
    { key: 'at', header: t('settings.at'), cell: ({ created_at }) => <RelativeTime at={created_at} /> },
  ];
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="xl"
      title={t('webhooks.deliveriesOf', { name: webhook.name })}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <Stack>
        {!webhook.active && (
          <Alert color="orange" title={t('webhooks.isOff')}>
            {t(`webhooks.off.${webhook.off_reason || 'person'}`)}
          </Alert>
        )}
        <Group>
          <Button leftSection={<IconSend size={15} />} onClick={send} disabled={!webhook.active}>
            {t('webhooks.test')}
          </Button>
        </Group>
        <DataTable
          {...deliveries}
          label={t('webhooks.deliveries')}
          columns={columns}
          rowKey={({ id }) => id}
          empty={<EmptyState compact title={t('webhooks.noDeliveries')} />}
        />
        {shown && <Detail key={shown} webhook={webhook} id={shown} />}
      </Stack>
    </Drawer>
  );
}

function DeliveryState({ state }: { state: string }) {
  const { t } = useTranslation();
  return state === 'delivered' ? (
    <StateBadge state="done" label={t('webhooks.delivered')} />
  ) : (
    <StateBadge state={state} />
  );
}

function Detail({ webhook, id }: { webhook: Webhook; id: string }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useDelivery(webhook.id, id);
  const { redeliver } = useWebhookActions();
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Text size="sm">{t('common.loading')}</Text>;
  const again = () =>
    void redeliver(webhook.id, id)
      .then(() => notifySuccess(t('webhooks.again')))
      .catch(notifyError);
  return (
    <Stack component="section" aria-label={t('webhooks.delivery')} gap="xs">
      <KeyValueList
        items={[
          [t('webhooks.state'), <DeliveryState key="state" state={data.state} />],
          [t('webhooks.error'), data.error || null],
          [t('webhooks.answer'), data.status_code],
          [t('webhooks.duration'), data.duration_ms == null ? null : `${data.duration_ms} ms`],
          [t('webhooks.nextTry'), data.gives_up_at ? <RelativeTime key="next" at={data.next_at} /> : null],
          [t('webhooks.givesUp'), data.gives_up_at ? <RelativeTime key="up" at={data.gives_up_at} /> : null],
        ]}
      />
      <Shown label={t('webhooks.request')} text={`${headers(data.request_headers)}\n\n${data.body}`} />
      {data.response_excerpt && <Shown label={t('webhooks.response')} text={data.response_excerpt} />}
      {data.state !== 'pending' && (
        <Group>
          <Button variant="default" onClick={again} disabled={!webhook.active}>
            {t('webhooks.redeliver')}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

const headers = (all: Record<string, string>) =>
  Object.entries(all)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

function Shown({ label, text }: { label: string; text: string }) {
  return (
    <div>
      <Text size="sm" fw={500}>
        {label}
      </Text>
      <ScrollArea.Autosize mah={240} viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': label }}>
        <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {text}
        </Code>
      </ScrollArea.Autosize>
    </div>
  );
}
