/**
 * Network: how functions reach login nodes that are not on the open internet. None by default: a network with a way out costs more than
 * everything else of a quiet deployment together, so its price is printed with it.
 *
 * Only functions that connect to clusters join it. It is one for the whole deployment: a job's supervisor is one function for all
 * clusters, and a function is in one network. Guards that what joins can reach the AWS services, the ports of login nodes and of other stores, and nothing else.
 */
import { Annotations, CfnOutput, RemovalPolicy } from 'aws-cdk-lib';
import {
  type CfnEIP,
  FlowLogDestination,
  GatewayVpcEndpointAwsService,
  IpAddresses,
  type ISubnet,
  type IVpc,
  Peer,
  Port,
  SecurityGroup,
  type SubnetSelection,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Deployment, Network } from './deployment.ts';
import { portsOf } from './limits.ts';

/** Where functions are placed. */
export interface Joined {
  readonly vpc: IVpc;
  readonly subnets: SubnetSelection;
  readonly securityGroup: SecurityGroup;
}

/** us-east-1, per gateway: $0.045 an hour and the same per GB. */
const NAT_DOLLARS_A_MONTH = 33;

export const priceOf = (network: Network): string =>
  'natGateways' in network
    ? `about $${NAT_DOLLARS_A_MONTH * network.natGateways} a month for ${network.natGateways} NAT gateway${network.natGateways === 1 ? '' : 's'}, also when nothing happens, and $0.045 per GB`
    : 'nothing here; what its NAT gateway (about $33 a month) or interface endpoints (about $7 a month each and zone) cost is paid where they were made';

export class ClusterNetwork extends Construct implements Joined {
  readonly vpc: IVpc;
  readonly subnets: SubnetSelection;
  readonly securityGroup: SecurityGroup;

  constructor(scope: Construct, id: string, deployment: Deployment, network: Network) {
    super(scope, id);
    this.vpc = 'vpcId' in network ? this.existing(network) : this.own(network, deployment);
    this.subnets = { subnets: this.vpc.privateSubnets as ISubnet[] };
    this.securityGroup = new SecurityGroup(this, 'Functions', {
      vpc: this.vpc,
      description: 'dispatch: out to AWS services and to login nodes, nothing in',
      allowAllOutbound: false,
    });
    for (const port of portsOf(deployment))
      this.securityGroup.addEgressRule(
        Peer.anyIpv4(),
        Port.tcp(port),
        port === 443 ? 'AWS services, buckets' : 'login nodes, each known by its host key, or a store that is not S3',
      );
    const price = priceOf(network);
    Annotations.of(this).addInfo(`the network costs ${price}`);
    new CfnOutput(this, 'Price', { value: price, description: 'What the network costs (us-east-1).' });
  }

  private existing(network: Extract<Network, { vpcId: string }>): IVpc {
    // By attributes: a look-up would ask AWS while synthesising.
    return Vpc.fromVpcAttributes(this, 'Vpc', {
      vpcId: network.vpcId,
      availabilityZones: [...network.availabilityZones],
      privateSubnetIds: [...network.subnetIds],
    });
  }

  private own({ natGateways, cidr }: Extract<Network, { natGateways: number }>, deployment: Deployment): IVpc {
    const vpc = new Vpc(this, 'Vpc', {
      ipAddresses: IpAddresses.cidr(cidr),
      maxAzs: 2,
      natGateways,
      restrictDefaultSecurityGroup: false,
      subnetConfiguration: [
        { name: 'out', subnetType: SubnetType.PUBLIC, cidrMask: 28, mapPublicIpOnLaunch: false },
        { name: 'functions', subnetType: SubnetType.PRIVATE_WITH_EGRESS, cidrMask: 26 },
      ],
      // Free, and most of the traffic.
      gatewayEndpoints: { DynamoDb: { service: GatewayVpcEndpointAwsService.DYNAMODB }, S3: { service: GatewayVpcEndpointAwsService.S3 } },
    });
    vpc.addFlowLog('Flows', {
      destination: FlowLogDestination.toCloudWatchLogs(
        new LogGroup(this, 'FlowLog', { retention: deployment.logDays, removalPolicy: RemovalPolicy.DESTROY }),
      ),
    });
    // What sites are asked to let in.
    const addresses = vpc.publicSubnets.slice(0, natGateways).map((subnet) => (subnet.node.findChild('EIP') as CfnEIP).ref);
    new CfnOutput(this, 'Addresses', { value: addresses.join(', '), description: 'Where connections to login nodes come from.' });
    // Its optional members are declared with `undefined`, which the interface's are not.
    return vpc as IVpc;
  }
}
