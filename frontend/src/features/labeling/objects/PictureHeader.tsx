import { ActionIcon, Badge, Button, Tooltip } from '@mantine/core';
import { IconArrowLeft, IconArrowRight, IconKeyboard } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { LabelTask } from '@/api/contract/labeling';
import { AnchorLink } from '@/shared/ui/links';
import { PageHeader } from '@/shared/ui/PageHeader';
import { visible } from '@/shared/ui/visible';
import { SaveState } from '../workspace/SaveState';
import { SkipButton } from '../workspace/SkipButton';
import { Brightness } from './Brightness';
import type { PictureLook } from './look';
import type { ObjectBench, PictureGroup } from './objectBench';
import { ViewSwitch } from './ViewSwitch';

interface PictureHeaderProps {
  task: LabelTask;
  bench: ObjectBench;
  picture: PictureGroup;
  look: PictureLook;
  readOnly: boolean;
  valueWindow: ReactNode;
  onLook: (look: PictureLook) => void;
  onKeys: () => void;
  onSkip: (reason: string) => void;
  onBack: () => void;
  onSubmit: () => void;
}

/** Above the picture: its name, where the work is kept, and what can be done with the whole. */
export function PictureHeader(props: PictureHeaderProps) {
  const { task, bench, picture, look, readOnly, valueWindow, onLook, onKeys, onSkip, onBack, onSubmit } = props;
  const { t } = useTranslation();
  return (
    <PageHeader
      title={task.name}
      above={
        <AnchorLink to="/labeling/$taskId" params={{ taskId: task.id }} size="xs">
          {t('labeling.work.toTask')}
        </AnchorLink>
      }
      badges={
        <>
          {picture.returned && <Badge color="orange">{t('labeling.objects.returned')}</Badge>}
          <SaveState bench={bench} />
        </>
      }
      subtitle={
        <span>
          <span style={{ overflowWrap: 'anywhere' }}>{visible(picture.slots[0]?.path ?? '')}</span>
          {' · '}
          {t('labeling.work.session', { count: bench.submitted })}
          {picture.slots[0]?.pre_label_left_out && (
            <span role="status" style={{ display: 'block' }}>
              {t('labeling.objects.preLabelLeftOut')}
            </span>
          )}
        </span>
      }
    >
      <ViewSwitch task={task} />
      {valueWindow}
      <Brightness look={look} onChange={onLook} />
      <Tooltip label={t('labeling.objects.keys')}>
        <ActionIcon variant="default" size="lg" aria-label={t('labeling.objects.keys')} onClick={onKeys}>
          <IconKeyboard size={16} />
        </ActionIcon>
      </Tooltip>
      <SkipButton disabled={readOnly || task.state !== 'active'} onSkip={onSkip} />
      <Button variant="default" leftSection={<IconArrowLeft size={14} />} disabled={!bench.held} onClick={onBack}>
        {t('labeling.objects.back')}
      </Button>
      <Button rightSection={<IconArrowRight size={14} />} disabled={readOnly} onClick={onSubmit}>
        {t('labeling.objects.submit')}
      </Button>
    </PageHeader>
  );
}
