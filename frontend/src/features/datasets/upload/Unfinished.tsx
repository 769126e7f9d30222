import { Button, Card, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { focusNeighbour } from '@/shared/ui/focusBack';
import { useFormat } from '@/shared/ui/format';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import type { Order } from './saved';

interface UnfinishedProps {
  orders: readonly Order[];
  onResume: (order: Order) => void;
  onForget: (order: Order) => void;
}

/** Uploads that this browser began and did not end: the page was reloaded, or closed. */
export function Unfinished({ orders, onResume, onForget }: UnfinishedProps) {
  const { t } = useTranslation();
  const format = useFormat();
  if (orders.length === 0) return null;
  return (
    <Card component="section" aria-label={t('upload.unfinished')} mb="md">
      <Text fw={600} mb={4}>
        {t('upload.unfinished')}
      </Text>
      <Text size="sm" c="dimmed" mb="sm">
        {t('upload.unfinishedHint')}
      </Text>
      <Stack gap="xs">
        {orders.map((order) => (
          <Group key={order.id} justify="space-between" gap="xs">
            <div style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
              <Text size="sm" fw={550}>
                {t('upload.intoFrom', {
                  place: `${order.dataset}@${order.branch}`,
                  name: order.root || t('upload.files'),
                })}
              </Text>
              <Text size="xs" c="dimmed">
                {t('datasets.matching', { count: order.filesTotal })} · {format.bytes(order.bytesTotal)} ·{' '}
                <RelativeTime at={order.startedAt} />
              </Text>
            </div>
            <Group gap="xs">
              <Button size="xs" onClick={() => onResume(order)}>
                {t('upload.goOn')}
              </Button>
              <Button
                size="xs"
                variant="subtle"
                color="gray"
                data-takes-row
                aria-label={t('upload.forgetOf', { name: order.dataset })}
                onClick={(event) => {
                  focusNeighbour(event.currentTarget);
                  onForget(order);
                }}
              >
                {t('upload.forget')}
              </Button>
            </Group>
          </Group>
        ))}
      </Stack>
    </Card>
  );
}
