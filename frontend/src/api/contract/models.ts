export type {
  Evaluation,
  Lineage,
  LineageNode,
  LineageNodeKindEnum as LineageKind,
  Model,
  ModelVersion,
} from '../schema';
