import { Button, Card, Group, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconTrash } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useMay } from '@/shared/domain/project';
import { ConfirmTyped } from '@/shared/forms/ConfirmTyped';
import { notifyError, notifySuccess } from '@/shared/ui/undo';
import { useDeleteDataset } from './queries';

export function DeleteCard({ dataset }: { dataset: string }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const may = useMay('admin');
  const [asking, ask] = useDisclosure();
  const { remove, isPending } = useDeleteDataset(dataset);
  if (!may) return null;
  const confirmed = () =>
    void remove()
      .then(() => {
        notifySuccess(t('datasets.deletedDone', { name: dataset }));
        return navigate({ to: '/deleted-datasets' });
      })
      .catch(notifyError)
      .finally(ask.close);
  return (
    <Card>
      <Stack gap="sm">
        <Title order={2} size="h4">
          {t('datasets.delete')}
        </Title>
        <Text size="sm">{t('datasets.deleteHint')}</Text>
        <Group>
          <Button color="red" leftSection={<IconTrash size={15} />} onClick={ask.open}>
            {t('datasets.delete')}
          </Button>
        </Group>
      </Stack>
      <ConfirmTyped
        opened={asking}
        onClose={ask.close}
        onConfirm={confirmed}
        title={t('datasets.deleteTitle', { name: dataset })}
        word={dataset}
        confirmLabel={t('datasets.delete')}
        loading={isPending}
      >
        {t('datasets.deleteHint')}
      </ConfirmTyped>
    </Card>
  );
}
