import { Alert, Button, Group, Text } from '@mantine/core';
import { IconPolygon } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Branch } from '@/api/contract/datasets';
import { useMay } from '@/shared/domain/project';
import { notifyError } from '@/shared/ui/undo';
import { useEdit } from '../operationQueries';
import { notifyEdited, type OnVersion } from '../operations/edited';
import { OperationProgress } from '../operations/OperationProgress';
import { tellIfCancelled, useOperation } from '../operations/useOperation';

interface MoveObjectsNoticeProps {
  name: string;
  /** The branch whose newest version is shown; undefined where an older one is. */
  branch: Branch | undefined;
  /** Files with objects of an earlier import in their attributes. */
  count: number;
  onDone: OnVersion;
}

/** Objects that an earlier import wrote into attributes: label tasks and training do not see them until they are moved. */
export function MoveObjectsNotice({ name, branch, count, onDone }: MoveObjectsNoticeProps) {
  const { t } = useTranslation();
  const operation = useOperation(name);
  const edit = useEdit(name, operation);
  const mayWrite = useMay('researcher');
  if (count === 0) return null;
  const move = async () => {
    if (!branch?.head) return;
    const step = { op: 'move_objects' as const, paths: ['/'] };
    const { version, unchanged } = await edit(branch.name, branch.head.commit, [step]);
    notifyEdited(branch.name, unchanged, version);
    if (version) onDone(branch.name, version.ref);
  };
  return (
    <Alert icon={<IconPolygon size={18} />} mb="sm" py="xs" title={t('datasets.described', { count })}>
      <Text size="sm">{t('datasets.describedHint')}</Text>
      {mayWrite && branch && (
        <Group mt="xs">
          <Button
            size="xs"
            disabled={operation.running !== undefined}
            onClick={() => void move().catch(tellIfCancelled).catch(notifyError)}
          >
            {t('datasets.describedMove')}
          </Button>
        </Group>
      )}
      <OperationProgress operation={operation} />
    </Alert>
  );
}
