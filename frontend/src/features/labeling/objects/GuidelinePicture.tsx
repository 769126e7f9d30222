import { Modal, UnstyledButton } from '@mantine/core';
import { IconPhotoOff } from '@tabler/icons-react';
import { type KeyboardEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useProject } from '@/shared/domain/project';
import { pictureAddress } from './guidelinePictures';
import classes from './objects.module.css';

interface GuidelinePictureProps {
  id: string;
  alt: string;
}

/** A picture of the project in a guideline; pressed, it is shown as large as the window. */
export function GuidelinePicture({ id, alt }: GuidelinePictureProps) {
  const { t } = useTranslation();
  const project = useProject();
  const address = pictureAddress(project, id);
  const [broken, setBroken] = useState('');
  const [isLarge, setLarge] = useState(false);
  if (!project) return null;
  if (broken === address)
    return (
      <span className={classes.lostPicture} role="img" aria-label={t('labeling.pictures.lost', { alt })}>
        <IconPhotoOff size={16} aria-hidden /> {t('labeling.pictures.lost', { alt })}
      </span>
    );
  const close = () => setLarge(false);
  return (
    <>
      <UnstyledButton
        component="button"
        type="button"
        className={classes.guidelinePicture}
        aria-label={t('labeling.pictures.enlarge', { alt })}
        onClick={() => setLarge(true)}
      >
        <img src={address} alt={alt} loading="lazy" onError={() => setBroken(address)} />
      </UnstyledButton>
      <Modal
        opened={isLarge}
        onClose={close}
        withCloseButton={false}
        // A drawer below would close at the same key: it leaves keys of a marked element alone.
        closeOnEscape={false}
        size="auto"
        padding={0}
        centered
        aria-label={alt || t('labeling.pictures.picture')}
      >
        <UnstyledButton
          type="button"
          className={classes.largePicture}
          data-autofocus
          data-mantine-stop-propagation="true"
          aria-label={t('labeling.pictures.shrink')}
          onClick={close}
          onKeyDown={(event: KeyboardEvent) => {
            if (event.key === 'Escape') close();
          }}
        >
          <img src={address} alt={alt} />
        </UnstyledButton>
      </Modal>
    </>
  );
}
