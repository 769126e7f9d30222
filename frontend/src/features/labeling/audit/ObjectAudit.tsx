import { useEffect, useState } from 'react';
import type { AuditSlot, LabelTask } from '@/api/contract/labeling';
import { ImageCache } from '../objects/imageCache';
import { wholePicture } from '../objects/usePicture';
import { AuditPicture } from './AuditPicture';

interface ObjectAuditProps {
  person: string;
  task: LabelTask;
  slots: readonly AuditSlot[];
  /** Reservations that have run out. */
  lost: number;
  /** A slot is decided: its lease is over. */
  onDecided: (id: string) => void;
  onDone: () => void;
}

/** The audit of drawn objects: one picture after another. */
export default function ObjectAudit({ person, task, slots, lost, onDecided, onDone }: ObjectAuditProps) {
  const [at, setAt] = useState(0);
  const [images] = useState(() => new ImageCache());
  useEffect(() => () => images.clear(), [images]);
  const slot = slots[at];
  if (!slot) return null;
  const next = () => {
    onDecided(slot.slot_id);
    if (at + 1 < slots.length) setAt(at + 1);
    else onDone();
  };
  return (
    <AuditPicture
      key={slot.slot_id}
      person={person}
      task={task}
      slot={slot}
      left={slots.length - at}
      lost={lost}
      upcoming={slots.slice(at + 1, at + 4).map(wholePicture)}
      images={images}
      onDecided={next}
    />
  );
}
